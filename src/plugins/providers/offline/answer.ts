/** What the offline model says and does for a prompt without a script. */
import type { ToolDefinition, ToolResultContent } from '../../../ports/provider-adapter.js'
import type { Conversation } from './conversation.js'
import { understand } from './requests.js'
import type { Understood } from './rules.js'

const INTRODUCTION = 'I am the offline assistant of svc: a fixed set of rules, not an AI.'

const HELP = `${INTRODUCTION} No model is involved, so I can only do what you spell out. I understand:

- read <file> [from line 10 to 20]
- list [directory]
- search <pattern> [in directory]
- find <file pattern> [in directory]
- write <file>: <content>
- edit <file>: replace "old" with "new" [everywhere]
- run <command>
- ask <question> (option / option)
- plan: <item>, <item>
- delegate [to <agent>:] <request>
- call <tool> {"field": "value"}

Several requests, one per line, are done in order. A fenced block named svc-script is played as a script.
To work with a real model, configure a provider and choose its model.`

export type Answer = { readonly say: string } | { readonly say: string; readonly call: Understood }

const SHOWN_LINES = 12
const SHOWN_WIDTH = 200
const SHOWN_REQUESTS = 50
const SHOWN_NOTES = 5

/** The next thing to say and, while requests are left, the tool to call. */
export function answer(conversation: Conversation, tools: readonly ToolDefinition[]): Answer {
  if (conversation.isTitled) return { say: titleOf(conversation.prompt) }
  if (tools.length === 0 && /summar/i.test(conversation.prompt)) return { say: listPrompts(conversation.prompts.slice(0, -1)) }
  if (conversation.told !== undefined)
    return { say: `${INTRODUCTION} I was told, and do nothing about it:\n\n${quoted(conversation.told)}` }
  const requests = understand(conversation.prompt)
  if (requests.length === 0 || requests.some((request) => 'help' in request)) return { say: HELP }
  const offered = new Set(tools.map(({ id }) => id))
  const todo = requests.flatMap((request) => ('tool' in request && offered.has(request.tool) ? [request] : []))
  const notes = requests.flatMap((request) => {
    if ('unclear' in request) return [`I do not understand "${clip(request.unclear)}".`]
    if ('attached' in request) return [`${clip(request.attached)} came with the prompt; a set of rules can make nothing of it.`]
    return 'tool' in request && !offered.has(request.tool)
      ? [`I cannot help with ${request.label}: the tool ${request.tool} is not offered here.`]
      : []
  })
  const next = todo[conversation.results.length]
  if (next !== undefined) {
    const doing = todo.length === 1 ? capital(next.label) : `Step ${conversation.results.length + 1} of ${todo.length}: ${next.label}`
    return { say: `${conversation.results.length === 0 ? `${INTRODUCTION} ` : ''}${doing}.`, call: next }
  }
  const done = todo.map((request, index) => report(request, conversation.results[index]))
  const unsaid = notes.splice(SHOWN_NOTES).length
  if (unsaid > 0) notes.push(`The same goes for ${unsaid} more lines.`)
  const hint = notes.length === 0 ? [] : ['Say "help" to see what I understand.']
  return { say: [...(done.length === 0 ? [INTRODUCTION] : []), ...done, ...notes, ...hint].join('\n\n') }
}

const TITLE_WIDTH = 60

/** The first line of the prompt. */
function titleOf(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? ''
  const characters = Array.from(line.slice(0, TITLE_WIDTH * 2))
  return characters.length > TITLE_WIDTH ? `${characters.slice(0, TITLE_WIDTH - 1).join('')}…` : line
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function report(request: Understood, result: ToolResultContent | undefined): string {
  const label = capital(request.label)
  if (result === undefined) return `${label} was not done.`
  if (result.isError) return `${label} failed: ${clip(result.output.trim())}`
  const lines = result.output.trimEnd().split('\n')
  if (lines.length === 1) return `${label} is done: ${clip(lines[0] ?? '')}`
  return `${label} is done:\n\n${quoted(result.output)}`
}

function quoted(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, SHOWN_LINES).map((line) => clip(line))
  const rest = lines.length > shown.length ? `\n… and ${lines.length - shown.length} more lines` : ''
  return `${shown.map((line) => `    ${line}`).join('\n')}${rest}`
}

function listPrompts(prompts: readonly string[]): string {
  const lines = prompts.slice(-SHOWN_REQUESTS).map((prompt) => `- ${clip(prompt.replaceAll('\n', ' '))}`)
  return `Requests of the user so far (a plain list, made without an AI):\n\n${lines.join('\n')}`
}

function clip(text: string): string {
  const characters = Array.from(text.slice(0, SHOWN_WIDTH * 2))
  return characters.length > SHOWN_WIDTH || text.length > SHOWN_WIDTH * 2 ? `${characters.slice(0, SHOWN_WIDTH).join('')}…` : text
}
