/** A command that is typed in a conversation, after a slash: the same in the chat of lines and on the screen. */
import type { UserModel } from '../../../../protocol/message/message.js'
import type { Client } from '../../../../published/client/client-types.js'
import type { Line } from '../../../terminal/span.js'

/** The conversation in which it is typed. */
export interface Spoken {
  readonly client: Client
  readonly directory: string
  /** Commands of the configuration, which the server runs. */
  readonly commands: Awaited<ReturnType<Client['commands']['list']>>
  /** Undefined before the first prompt. */
  readonly sessionId: string | undefined
  /** What the next prompts are answered by, where somebody chose. */
  model: UserModel | undefined
  agent: string | undefined
  isThinking: boolean
  note(text: string): void
  lines(lines: readonly Line[]): void
  width(): number
  /** A prompt that waits for the run under way. */
  queue(text: string): Promise<void>
  /** Goes on in another session; undefined: in a new one. */
  enter(sessionId: string | undefined): Promise<void>
  leave(): void
}

type Shared = 'sessionId' | 'model' | 'agent' | 'isThinking'

/** What commands choose is chosen in the conversation itself. */
export function spokenOf(talk: Pick<Spoken, Shared>, rest: Omit<Spoken, Shared>): Spoken {
  return {
    ...rest,
    get sessionId() {
      return talk.sessionId
    },
    get model() {
      return talk.model
    },
    set model(model) {
      talk.model = model
    },
    get agent() {
      return talk.agent
    },
    set agent(agent) {
      talk.agent = agent
    },
    get isThinking() {
      return talk.isThinking
    },
    set isThinking(isThinking) {
      talk.isThinking = isThinking
    },
  }
}

export interface SlashCommand {
  /** What may follow the name. */
  readonly words?: string
  readonly does: string
  run(spoken: Spoken, rest: string): Promise<void> | void
}

/** For commands that are about a session: there is one once something was said. */
export function inSession(run: (spoken: Spoken, sessionId: string, rest: string) => Promise<void>): SlashCommand['run'] {
  return (spoken, rest) => (spoken.sessionId === undefined ? spoken.note('nothing has been said yet') : run(spoken, spoken.sessionId, rest))
}
