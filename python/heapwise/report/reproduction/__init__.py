"""A reproduced report as files: one table of all figures, the pictures, and the page of the run."""

from heapwise.report.reproduction.charts import Chart, charts, svg
from heapwise.report.reproduction.documents import figures_csv, to_json
from heapwise.report.reproduction.raster import can_raster, raster

__all__ = ["Chart", "can_raster", "charts", "figures_csv", "raster", "svg", "to_json"]
