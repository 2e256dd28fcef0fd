/** What is known of one conversation, and of who talks in it. */
import { createLane, type Lane } from '../../../kernel/lane.js'
import type { ScreenEvent } from '../../../machines/screen/screen.machine.js'
import type { UserModel } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { Client } from '../../../published/client/client-types.js'
import type { ChatOptions } from '../../commands/chat/chat-page.js'
import { createTakenBack, type TakenBack } from '../../commands/run/taken-back.js'
import type { Connection } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { failureText } from '../../failure.js'
import { type Line, span } from '../../terminal/span.js'
import type { Heard } from '../story/heard.js'
import { createStory, type Story } from '../story/story.js'
import { type Facts, NO_FACTS } from './facts.js'
import type { Cursor } from './following.js'
import { createRequests, type Requests } from './requests.js'

/** Of prompts that wait to be sent. */
const MOST = 1000

export interface TalkOptions {
  readonly options: ChatOptions
  readonly width: () => number
  /** Something is to be painted anew. */
  readonly onChange: () => void
  /** What is typed stands there already: it is not shown again where it has its turn at once. */
  readonly isEchoed?: boolean
  /** Texts go back to where they were typed. */
  readonly giveBack: (texts: readonly string[]) => void
}

export interface Talk extends TalkOptions {
  readonly directory: string
  readonly machine: (event: ScreenEvent) => void
  /** Aborted when the person has left. */
  readonly left: AbortController
  /** Aborted when what waits for the server is taken back. */
  unsent: AbortController
  readonly lane: Lane
  readonly takenBack: TakenBack
  connection: Connection | undefined
  sessionId: string | undefined
  /** The last one is that of the session; of those before it something may not be taken yet. */
  readonly stories: Story[]
  requests: Requests
  cursor: Cursor
  facts: Facts
  commands: Awaited<ReturnType<Client['commands']['list']>>
  agents: readonly string[]
  model: UserModel | undefined
  agent: string | undefined
  isThinking: boolean
  /** The run that is under way, as its status was heard. */
  runId: string | undefined
  /** Texts of prompts sent from here that have not begun, by their message. */
  readonly waiting: Map<string, string>
  /** Messages of prompts that stand there as they were typed. */
  readonly echoed: Set<string>
  /** Messages that were heard of. */
  readonly told: Set<string>
  /** What is heard while the state of the server is read. */
  held: Heard[] | undefined
}

export function createTalk(given: TalkOptions, machine: (event: ScreenEvent) => void): Talk {
  const { options } = given
  const talk: Talk = {
    ...given,
    directory: directoryOn(options.server, options.directory),
    machine,
    left: new AbortController(),
    unsent: new AbortController(),
    lane: createLane({ most: MOST }),
    takenBack: createTakenBack(() => talk.sessionId ?? ''),
    connection: undefined,
    sessionId: undefined,
    stories: [],
    requests: NO_REQUESTS,
    cursor: { last: undefined },
    facts: NO_FACTS,
    commands: [],
    agents: [],
    model: undefined,
    agent: options.agent,
    isThinking: options.isThinking,
    runId: undefined,
    waiting: new Map(),
    echoed: new Set(),
    told: new Set(),
    held: undefined,
  }
  begin(talk, '')
  return talk
}

/** Goes on in that session: what is heard of another one counts no more. */
export function choose(talk: Talk, sessionId: string): void {
  begin(talk, sessionId)
  talk.sessionId = sessionId
  talk.machine({ type: 'session.chosen' })
}

function begin(talk: Talk, sessionId: string): void {
  const { options, stories, onChange, machine } = talk
  stories.push(
    createStory({
      sessionId,
      isVerbose: options.isVerbose,
      isThinking: () => talk.isThinking,
      isEchoed: (messageId) => talk.echoed.has(messageId),
      now: Date.now,
      isAfter: stories.at(-1)?.isBegun === true,
    }),
  )
  talk.runId = undefined
  talk.requests.stop()
  talk.requests = createRequests({
    client: () => clientOf(talk),
    note: (text) => note(talk, text),
    onChange() {
      machine({ type: talk.requests.count > 0 ? 'request.opened' : 'requests.settled' })
      onChange()
    },
  })
  talk.cursor = { last: undefined }
  talk.facts = NO_FACTS
  talk.waiting.clear()
  talk.echoed.clear()
  talk.told.clear()
  talk.held = undefined
}

export function clientOf({ connection }: Talk): Client {
  if (connection === undefined) throw new Error('The server is not there yet.')
  return connection.client
}

export function tell({ stories, onChange }: Talk, lines: readonly Line[]): void {
  stories.at(-1)?.tell(lines)
  onChange()
}

export function note(talk: Talk, text: string): void {
  tell(talk, [[span(printable(text), 'dim')]])
}

/** Whatever fails once the person has left fails for nobody. */
export function fail(talk: Talk, error: unknown): void {
  if (!talk.left.signal.aborted) tell(talk, [[span(failureText(error), 'red')]])
}

const NO_REQUESTS: Requests = {
  hear: () => undefined,
  keep: () => undefined,
  question: undefined,
  count: 0,
  answer: () => undefined,
  stop: () => undefined,
}
