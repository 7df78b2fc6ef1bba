"""`event_simulator`: declares a simulator that calls its agent over Socket.IO."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from trailbrake.event_sims.options import (
    WATCHED_AGENT,
    CallAdvice,
    EventDoctorOptions,
    EventLiveOptions,
    EventRecordOptions,
    EventServeOptions,
    host_period,
    serve_pace,
)
from trailbrake.simulator import Deferred, Simulator, Tools, WorldKind
from trailbrake.simulator_tools import DoctorTool, Idle, LinkRecorder, VerifyTool

if TYPE_CHECKING:
    from trailbrake.event_sims.link import EventLink
    from trailbrake.findings import Finding

Live = TypeVar("Live", bound=EventLiveOptions)
Serve = TypeVar("Serve", bound=EventServeOptions)


class WorldSpec(NamedTuple):
    """The embedded world behind the wire, and its default driver."""

    kind: WorldKind
    default_driver: str
    camera: Mapping[str, float] | None = None  # fields of `world.pinhole_camera.PinholeCamera`


def event_simulator(
    name: str,
    title: str,
    *,
    supplies: frozenset[str],
    accepts: frozenset[str],
    options: tuple[type[Live], type[Serve]],
    world: WorldSpec,
    advice: CallAdvice,
    verify: "Deferred[VerifyTool] | None" = None,
) -> Simulator[Live, Serve]:
    """Return the declaration of a simulator whose folder is `sims/NAME`, with `link.Link` and `host.Host`.

    Args:
        name: as in `--sim NAME`.
        title: for people.
        supplies: names of `STATE_FIELDS` that the link fills in.
        accepts: names of `CONTROL_FIELDS` and `COMMAND_FIELDS` that the link sends.
        options: classes of the live and of the serve options.
        world: the embedded world.
        advice: of its doctor.
        verify: what was assumed of its wire; None: nothing that a drive can decide.
    """
    live_options, serve_options = options
    folder = f"trailbrake.sims.{name}"

    def embedded_options(live: Live, cars: int) -> Serve:
        return replace(serve_options(), pace="lockstep")

    tools: Tools = {
        "doctor": _make_doctor(Deferred(f"{folder}.link:Link"), live_options, advice),
        "recorder": LinkRecorder(EventRecordOptions),
    }
    if verify is not None:
        tools["verify"] = verify

    def program_options(given: Serve, address: str, patience: float) -> Serve:
        return replace(given, connect=address, patience=patience)

    return Simulator(
        name=name,
        title=title,
        supplies=supplies,
        accepts=accepts,
        live_options=live_options,
        serve_options=serve_options,
        link=Deferred(f"{folder}.link:Link"),
        host=Deferred(f"{folder}.host:Host"),
        period=host_period,
        pace=serve_pace,
        world=world.kind,
        default_driver=world.default_driver,
        camera=world.camera,
        embedded_options=embedded_options,
        watch_options=lambda live: replace(live, connect=live.connect or WATCHED_AGENT),
        program_options=program_options,
        tools=tools,
    )


def _make_doctor(
    link: "Deferred[Callable[[Live], EventLink[Any]]]", live_options: type[Live], advice: CallAdvice
) -> DoctorTool[EventDoctorOptions]:
    def examine(
        options: EventDoctorOptions, idle: Idle | None = None, environment: Mapping[str, str] = os.environ
    ) -> "Iterator[Finding]":
        from trailbrake.event_sims.doctor import examine_link

        live = replace(live_options(), listen=options.listen)
        return examine_link(link.load()(live), options, advice, idle=idle, environment=environment)

    text = (EventDoctorOptions.__doc__ or "").replace("no simulator", f"no {advice.simulator}", 1)
    return DoctorTool(type("DoctorOptions", (EventDoctorOptions,), {"__doc__": text, "__slots__": ()}), examine)
