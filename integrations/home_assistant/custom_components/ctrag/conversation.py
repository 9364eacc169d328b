"""The conversation agent: passes on what is said, and says what the assistant answers."""

import logging

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_TOKEN, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .client import CannotConnect, Client, InvalidToken, Refused, spoken

_log = logging.getLogger(__name__)


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the agent of an entry."""
    async_add_entities([CtragConversation(entry)])


class CtragConversation(conversation.ConversationEntity):
    """One person's assistant."""

    _attr_has_entity_name = True

    def __init__(self, entry: ConfigEntry) -> None:
        self._attr_unique_id = entry.entry_id
        self._attr_name = entry.title
        self._entry = entry

    @property
    def supported_languages(self) -> list[str]:
        """English alone."""
        return ["en"]

    async def _async_handle_message(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> conversation.ConversationResult:
        """Answer what was said last in the log.

        What needs a yes is asked aloud; Home Assistant goes on listening for it.
        """
        messages = [
            {"role": one.role, "content": one.content}
            for one in chat_log.content
            if one.role in ("user", "assistant") and one.content
        ]
        data = self._entry.data
        client = Client(
            async_get_clientsession(self.hass), data[CONF_URL], data.get(CONF_TOKEN, "")
        )
        response = intent.IntentResponse(language=user_input.language)
        asks = False
        try:
            text, asks = await client.complete(messages)
        except Refused as error:
            response.async_set_error(intent.IntentResponseErrorCode.FAILED_TO_HANDLE, str(error))
        except (CannotConnect, InvalidToken) as error:
            _log.warning("not answered: %s", error or "the token is not known")
            response.async_set_error(
                intent.IntentResponseErrorCode.UNKNOWN, "The assistant cannot be reached now."
            )
        else:
            said = conversation.AssistantContent(agent_id=user_input.agent_id, content=text)
            chat_log.async_add_assistant_content_without_tools(said)
            response.async_set_speech(spoken(text))
        return conversation.ConversationResult(
            response=response,
            conversation_id=chat_log.conversation_id,
            continue_conversation=asks,
        )
