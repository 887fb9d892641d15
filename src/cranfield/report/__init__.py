"""One page about some runs, in one file that works offline."""

from cranfield.report.writing import ReportFile, write_comparison, write_report, write_test

__all__ = ["ReportFile", "write_comparison", "write_report", "write_test"]
