"""Asks where the assistant is served, and for its token."""

import logging
from typing import Any

import voluptuous as vol
from homeassistant.config_entries import ConfigFlow, ConfigFlowResult
from homeassistant.const import CONF_TOKEN, CONF_URL
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .client import CannotConnect, Client, InvalidToken, Refused
from .const import DEFAULT_URL, DOMAIN

_log = logging.getLogger(__name__)


class CtragConfigFlow(ConfigFlow, domain=DOMAIN):
    """One entry for each assistant."""

    VERSION = 1

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask, and look whether an assistant answers there."""
        errors: dict[str, str] = {}
        if user_input is not None:
            url = user_input[CONF_URL].rstrip("/")
            self._async_abort_entries_match({CONF_URL: url})
            session = async_get_clientsession(self.hass)
            try:
                await Client(session, url, user_input.get(CONF_TOKEN, "")).check()
            except InvalidToken:
                errors["base"] = "invalid_auth"
            except (CannotConnect, Refused) as error:
                _log.warning("no assistant: %s", error)
                errors["base"] = "cannot_connect"
            else:
                return self.async_create_entry(title="ctrag", data={**user_input, CONF_URL: url})
        given = user_input or {}
        schema = vol.Schema(
            {
                vol.Required(CONF_URL, default=given.get(CONF_URL, DEFAULT_URL)): str,
                vol.Optional(CONF_TOKEN, default=given.get(CONF_TOKEN, "")): str,
            }
        )
        return self.async_show_form(step_id="user", data_schema=schema, errors=errors)
