from types import SimpleNamespace

from trailbrake.driving.loop.request_pacer import RequestPacer


def test_requests_are_carried_out_before_each_wait():
    order = []
    inner = SimpleNamespace(
        wait_for_sample=lambda link, rehearse: order.append((link, rehearse)) or 3.5, end_reason=lambda: "gone"
    )
    pacer = RequestPacer(inner, lambda: order.append("requests"))
    assert pacer.wait_for_sample("link", "rehearse") == 3.5
    assert order == ["requests", ("link", "rehearse")]
    assert pacer.end_reason() == "gone"
