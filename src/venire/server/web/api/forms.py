"""Bodies of requests. Unknown names are refused, never ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from venire.formats.study_settings import CampaignSettings, Grade, StudySettings
from venire.server.studies.accounts import TOKEN_DAYS
from venire.server.web.api.settings_models import make_model

Name = Annotated[str, Field(min_length=1, max_length=200)]
Settings = dict[str, Any]


class Form(BaseModel):
    """Base of all requests: unknown names are an error."""

    model_config = ConfigDict(extra="forbid", str_max_length=1_000_000)


if TYPE_CHECKING:
    CampaignRules: TypeAlias = Form
    StudyRules: TypeAlias = Form
else:
    CampaignRules = make_model(
        CampaignSettings,
        "CampaignRules",
        Form,
        "Settings of a campaign. Settings that are not named stay, or have their default.",
    )
    _GRADE = make_model(
        Grade,
        "Grade",
        Form,
        "A grade of the scale.",
        {"name": Name, "definition": Annotated[str, Field(max_length=2000)]},
    )
    StudyRules = make_model(
        StudySettings,
        "StudyRules",
        Form,
        "Settings of a study. Settings that are not named stay, or have their default.",
        {"grades": list[_GRADE], "campaign": CampaignRules},
    )


class NewStudy(Form):
    """A new study."""

    name: Name
    instructions: str = ""
    settings: StudyRules = StudyRules()


class StudyChange(Form):
    """Changes to a study. What is not named stays."""

    name: Name | None = None
    instructions: str | None = None
    settings: StudyRules | None = None


class Markdown(Form):
    """Instructions to preview, in Markdown."""

    markdown: str


class GoldChange(Form):
    """Whether a gold document is used in batches."""

    active: bool


class PoolSettings(Form):
    """Settings of a strategy. Settings that the strategy does not have are refused."""

    depth: int | None = Field(default=None, ge=1, le=100_000)
    budget: int | None = Field(default=None, ge=1, le=10_000_000)
    fusion: str | None = None
    discount: float | None = None
    strata: list[Annotated[int, Field(ge=1, le=100_000)]] | None = None
    rates: list[float] | None = None
    pairs: int | None = Field(default=None, ge=1, le=10_000_000)
    runs: list[str] | None = None
    qrels: str | None = None


class PoolChoice(Form):
    """How to choose the pairs to judge."""

    strategy: str = Field(default="depth", max_length=100)
    settings: PoolSettings = PoolSettings()
    seed: int = Field(default=0, ge=0, le=2**31 - 1)


class NewCampaign(Form):
    """A new campaign. Settings that are not named are the study's defaults."""

    name: Name
    settings: CampaignRules = CampaignRules()


class CampaignChange(Form):
    """Changes to a campaign. What is not named stays."""

    name: Name | None = None
    settings: CampaignRules = CampaignRules()


class NewInvitation(Form):
    """An invitation: for one person, or with a campaign for the workers of a crowd platform."""

    role: Literal["owner", "annotator", "viewer"] = "annotator"
    name: str = Field(default="", max_length=200)
    campaign_id: str | None = Field(default=None, max_length=100)


class Pause(Form):
    """Whether an annotator is paused, and why."""

    paused: bool
    reason: str = Field(default="", max_length=2000)


class RoleChange(Form):
    """The new role of a member."""

    role: Literal["owner", "annotator", "viewer"]


class BatchDecision(Form):
    """Whether the judgments of a batch count."""

    accept: bool
    reason: str = Field(default="", max_length=2000)


class Payment(Form):
    """Whether a batch is paid."""

    payment: Literal["approved", "refused"]


class Settlement(Form):
    """A settled grade; null withdraws it."""

    query_id: str
    doc_id: str
    grade: int | None = Field(ge=-(2**31), le=2**31 - 1)
    reason: str = Field(default="", max_length=2000)


class MoreJudgments(Form):
    """A finished job ``next-best``, whose pairs a campaign is to judge once more."""

    job_id: str = Field(max_length=100)
    campaign_id: str = Field(max_length=100)


class KeptForecast(Form):
    """The design, counted from 0, of a finished job ``forecast`` to keep with a campaign."""

    job_id: str = Field(max_length=100)
    campaign_id: str = Field(max_length=100)
    design: int = Field(ge=0, le=100_000)


class NewExport(Form):
    """Which files to export, which grades stand in them, and of which campaign the raw ones are."""

    kinds: list[str] = Field(max_length=50)
    grades: str = "adjudicated"
    campaign_id: str | None = None


class NewToken(Form):
    """A new API token: a name to recognise it by, what it may do, and for how many days.

    ``scope``: read, judge (read too), or own (everything that its user may do).
    """

    name: Name
    scope: Literal["read", "judge", "own"] = "own"
    days: int = Field(default=TOKEN_DAYS, ge=1, le=3650)


class PasswordChange(Form):
    """The current password and the new one."""

    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000)


def read_form(form: BaseModel | None) -> dict[str, Any]:
    """Return the values that a request names, without those that it leaves out."""
    return {} if form is None else form.model_dump(exclude_unset=True)


def read_pool_settings(form: PoolSettings) -> dict[str, Any]:
    """Return the settings of a strategy; an empty field has its default."""
    return {name: value for name, value in read_form(form).items() if value not in (None, [], "")}


def example(value: Any, words: str = "Success") -> dict[int | str, dict[str, Any]]:
    """Return the description of an answer, with an example."""
    return {200: {"description": words, "content": {"application/json": {"example": value}}}}
