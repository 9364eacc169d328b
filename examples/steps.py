"""Each step of a request alone, for somebody whose items are in no store."""

from ctrag import ContextRetriever, ToolRetriever, plan_grammar
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.value_ranker import ValueRanker
from stores.people.dataset import load_dataset
from stores.people.items import Request
from synth.reference import split_folder

owner = load_dataset(split_folder("dev")).persona("p007")
request = Request("what did the school lady want earlier", owner.person.now, "commute")

retriever = ContextRetriever.open()
found = retriever.retrieve(retriever.view(owner.person, owner.items), request)
items = [one.item for one in found.items]
print("first item:", items[0].id)

tools = ToolRetriever.open().search(request, items, person=owner.person, relevance=found.relevance)
print("first tool:", tools.tools[0].tool.api)

exposed = [one.tool for one in tools.tools]
sources = ValueSources(request, owner.person, items)
values = rank_values(exposed, sources, ValueRanker.packaged())
print("first value:", values["play_voicemail"].candidates["contact"][0].value)

grammar = plan_grammar(exposed, sources, best_only=True, values=values)
print("callable:", ", ".join(grammar.apis))
