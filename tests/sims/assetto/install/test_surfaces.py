"""What a track's ground is made of, and the permission for Custom AI."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.sims.assetto.install import surfaces
from trailbrake.sims.assetto.install.surfaces import SurfaceSection, SurfacesFile

STOCK = (
    b"[SURFACE_0]\r\nKEY=ROAD\r\nFRICTION=0.98\r\nDAMPING=0\r\nWAV=\r\nWAV_PITCH=0\r\nFF_EFFECT=NULL\r\n"
    b"IS_VALID_TRACK=1\r\nIS_PITLANE=0\r\n\r\n[SURFACE_1]\r\nKEY=GRASS\r\nFRICTION=0.6 ; wet\r\nDAMPING=0.05\r\n"
    b"IS_VALID_TRACK=0\r\n\r\n[SURFACE_10]\r\nKEY=PITS\r\nFRICTION=x\r\nIS_PITLANE=1\r\n"
)


def test_a_stock_file():
    found = surfaces.decode_surfaces(STOCK)
    assert found.surfaces == (
        SurfaceSection("ROAD", 0.98, wav_pitch="0"),
        SurfaceSection("GRASS", 0.6, valid=False, damping=0.05, wav_pitch=""),
        SurfaceSection("PITS", 1.0, pit_lane=True, wav_pitch=""),
    )
    assert not found.allows_custom_ai
    assert not found.extended


def test_the_permission_is_one_section_more():
    granted = surfaces.permit_custom_ai(STOCK, extended=False)
    assert granted == STOCK + b"\r\n[_EXTRA_PERMISSIONS]\r\nALLOW_CUSTOM_AI_MANIPULATION=1\r\n"
    assert surfaces.decode_surfaces(granted).allows_custom_ai
    assert surfaces.permit_custom_ai(granted, extended=False) == granted


def test_extended_physics_is_asked_for_in_the_first_surface():
    granted = surfaces.permit_custom_ai(STOCK, extended=True)
    assert granted.count(b"WAV_PITCH=extended-0\r\n") == 1
    assert surfaces.decode_surfaces(granted).extended
    assert surfaces.permit_custom_ai(granted, extended=True) == granted
    assert granted.replace(b"extended-", b"") == surfaces.permit_custom_ai(STOCK, extended=False)


def test_a_refused_permission_is_turned():
    data = b"[_EXTRA_PERMISSIONS]\nALLOW_CUSTOM_AI_MANIPULATION=0 ; no\n"
    assert not surfaces.decode_surfaces(data).allows_custom_ai
    assert surfaces.permit_custom_ai(data, extended=True) == data.replace(b"=0", b"=1")


@pytest.mark.parametrize("extended", [False, True])
def test_what_is_written_is_read(extended):
    told = SurfacesFile(
        (SurfaceSection("ROAD", 1.0), SurfaceSection("GRASS", 0.6, valid=False, damping=0.08)), True, extended
    )
    found = surfaces.decode_surfaces(surfaces.encode_surfaces(told))
    assert (found.allows_custom_ai, found.extended) == (True, extended)
    assert [s.key for s in found.surfaces] == ["ROAD", "GRASS"]
    assert found.surfaces[1] == told.surfaces[1]


@given(st.binary(max_size=300))
def test_rubbish_is_refused_or_read(data):
    try:
        surfaces.decode_surfaces(b"[SURFACE_0]\n" + data)
    except DataError:
        return
    assert surfaces.decode_surfaces(surfaces.permit_custom_ai(b"[SURFACE_0]\n" + data, extended=True)).allows_custom_ai
