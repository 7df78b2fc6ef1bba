"""What several test files share: fakes, made-up drives, roads and programs of others."""
