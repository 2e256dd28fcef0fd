/** All commands of a conversation: what completes, what `/help` lists, and what each does. */
import { printable } from '../../../../protocol/text/visible-text.js'
import { type Line, span } from '../../../terminal/span.js'
import { chooseModel } from '../../run/model-choice.js'
import { chooseAgent, modelsText } from '../chat-choices.js'
import type { SlashCommand, Spoken } from './slash-command.js'
import { COST, DIFF, GOAL, PERMISSIONS, STATUS } from './slash-looks.js'
import { COMPACT, EXPORT, FORK, REDO, RENAME, SESSIONS, UNDO } from './slash-sessions.js'

const NAME = 30

const HELP: SlashCommand = { does: 'this list', run: (spoken) => spoken.lines(helpLines(spoken.commands)) }

const QUEUE: SlashCommand = {
  words: '<prompt>',
  does: 'has its turn after the run that is under way',
  run: (spoken, rest) => (rest === '' ? spoken.note('what? /queue <prompt>') : spoken.queue(rest)),
}

const NEW: SlashCommand = { does: 'a new session', run: (spoken) => spoken.enter(undefined) }

const MODEL: SlashCommand = {
  words: '<id>',
  does: 'another model from now on; alone, those there are',
  async run(spoken, rest) {
    const { client, directory } = spoken
    if (rest === '') return spoken.note(await modelsText(client, directory, spoken.model))
    const model = await chooseModel(client, directory, rest)
    spoken.model = model
    const { providers } = await client.providers.configured({ directory })
    const isKnown = providers.find(({ id }) => id === model.providerId)?.models[model.modelId] !== undefined
    spoken.note(
      `from now on ${model.providerId}/${model.modelId}${isKnown ? '' : ', which is not known here: /model lists those that are'}`,
    )
  },
}

const AGENT: SlashCommand = {
  words: '<name>',
  does: 'another agent from now on; alone, the usual one',
  async run(spoken, rest) {
    spoken.agent = rest === '' ? undefined : await chooseAgent(spoken.client, spoken.directory, rest)
    spoken.note(spoken.agent === undefined ? 'from now on the usual agent' : `from now on ${spoken.agent}`)
  },
}

const THINKING: SlashCommand = {
  does: 'shows what the model thinks, or no longer',
  run(spoken) {
    spoken.isThinking = !spoken.isThinking
    spoken.note(spoken.isThinking ? 'what the model thinks is shown' : 'what the model thinks is not shown')
  },
}

const EXIT: SlashCommand = { does: 'leaves', run: (spoken: Spoken) => spoken.leave() }

export const SLASH: Readonly<Record<string, SlashCommand>> = {
  help: HELP,
  status: STATUS,
  queue: QUEUE,
  undo: UNDO,
  redo: REDO,
  diff: DIFF,
  compact: COMPACT,
  cost: COST,
  goal: GOAL,
  permissions: PERMISSIONS,
  sessions: SESSIONS,
  new: NEW,
  rename: RENAME,
  fork: FORK,
  export: EXPORT,
  model: MODEL,
  agent: AGENT,
  thinking: THINKING,
  exit: EXIT,
}

/** The list of `/help`: our commands, then those of the configuration. */
function helpLines(configured: readonly { readonly name: string; readonly description?: string | undefined }[]): readonly Line[] {
  const own = Object.entries(SLASH).map(([name, { words = '', does }]) => [`${name} ${words}`, does] as const)
  const others = configured
    .filter(({ name }) => !Object.hasOwn(SLASH, name))
    .map(({ name, description = '' }) => [name, description] as const)
  return [...own, ...others].map(([name, does]) => [
    { text: `/${printable(name)} `.padEnd(NAME) },
    span(printable(does.split('\n', 1)[0] ?? ''), 'dim'),
  ])
}
