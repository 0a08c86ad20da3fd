"""What csr-report is made of: bundle (what was measured), tables, figures, pictures, page."""
