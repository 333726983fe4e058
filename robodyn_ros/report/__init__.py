"""Report of an identification as one page for a browser."""
