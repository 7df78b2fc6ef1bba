"""Control of camera cars: free space, gaps, signs, and turning round between walls."""
