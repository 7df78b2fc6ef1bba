"""What recordings show: laps compared, reports, and the steward, who judges contacts by the rules of conduct."""
