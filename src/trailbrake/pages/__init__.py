"""What the HTML pages share: report, live page, leaderboard and training report.

Each page has a folder in `assets/`; `assets/shared/` holds theme, charts, and the map renderer.
"""
