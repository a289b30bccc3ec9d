"""The pictures of a report: whatever their labels say, nothing is cut at the edge."""

from hegemon.analysis.pictures import settle
from hegemon.claims import plots
from hegemon.claims.registry import Plot, Series


def test_long_labels_are_whole(monkeypatch):
    laid_out = []

    def settled(figure):
        settle(figure)
        (axis,) = figure.axes
        laid_out.append(figure)
        texts = axis.get_legend().get_texts()
        for part in (axis.yaxis.label, axis.xaxis.label, *texts):
            box = part.get_window_extent()
            assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1, part
        assert axis.yaxis.label.get_window_extent().height <= axis.bbox.height

    monkeypatch.setattr(plots, "settle", settled)
    curves = [Series(f"r_max = {k}·log n (τ = {k})", [8.0, 64.0], [100.0, 10.0**k], kind="both") for k in range(2, 7)]
    plot = Plot("Holding with small timers", "n", "parallel time until the leader is lost", curves, True, True)
    assert plots.picture(plot).startswith("data:image/svg+xml") and laid_out
