/** Conversations that an editor has open. */
import { type AgentContext, type AvailableCommand, RequestError } from '@agentclientprotocol/sdk'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import { SvcClientError } from '../../../published/client/client.js'
import type { Client } from '../../../published/client/client-types.js'
import { createAsking } from './asking.js'
import { type Choices, choose, modelsOf, modesOf, type Offers, optionsOf, readOffers } from './choices.js'
import { patient } from './patient.js'
import { createTurns, type Turns } from './turns.js'
import { createTeller, type Teller } from './updates.js'

export interface Opened {
  readonly id: string
  readonly cwd: string
  readonly turns: Turns
  readonly teller: Teller
  readonly offers: Offers
  /** Answers what waits in it, and what is asked of prompts that somebody else has sent, until it is closed. */
  attend(): void
  /** Changes with what the editor chooses. */
  choices: Choices
}

interface Known extends Opened {
  /** Nobody waits for anything of it any more. */
  leave(): void
  /** Nobody answers what is asked in it; prompts under way are the affair of their requests. */
  unattend(): void
}

export interface Sessions {
  create(cwd: string): Promise<Opened>
  /** Opens one that is there. Throws `-32002` when there is none. */
  open(sessionId: string, cwd: string | undefined): Promise<Opened>
  /** Throws `-32602` for one that is not open. */
  get(sessionId: string): Opened
  close(sessionId: string): void
  /** The editor is gone: nobody answers what is asked in any of them. */
  unattendAll(): void
  /** Tells all that was said. */
  replay(opened: Opened): Promise<void>
  tellCommands(opened: Opened): Promise<void>
}

/** Of a history that is told again, in one answer. */
const PAGE = 100

/** What the editor can do. */
interface Abilities {
  /** Puts a form to a person. */
  readonly elicits: boolean
  /** Shows a command that the agent runs as a terminal. */
  readonly showsTerminals: boolean
}

interface SessionsOptions {
  readonly client: Client
  readonly editor: () => AgentContext
  readonly abilities: () => Abilities
  /** What is asked in a session is not put to the editor any more. */
  onUnattended(error: unknown): void
}

export function createSessions({ client, editor, abilities, onUnattended }: SessionsOptions): Sessions {
  const open = new Map<string, Known>()

  async function opened(session: Session): Promise<Opened> {
    if (open.size >= LIMITS.acp.sessions && !open.has(session.id))
      throw RequestError.invalidRequest({ most: LIMITS.acp.sessions }, 'too many sessions are open; close one first')
    open.get(session.id)?.leave()
    const { id, directory: cwd } = session
    const offers = await patient(() => readOffers(client, cwd))
    const { elicits, showsTerminals } = abilities()
    const teller = createTeller(editor(), { sessionId: id, cwd, window: () => windowOf(open.get(id)), showsTerminals })
    const asking = createAsking(editor(), { elicits, cwd })
    const turns = createTurns({ client, sessionId: id, teller, asking })
    const left = new AbortController()
    const known: Known = {
      id,
      cwd,
      offers,
      teller,
      turns,
      attend: () => void client.attend(id, { ...asking, signal: left.signal }).catch(onUnattended),
      unattend: () => left.abort(),
      leave() {
        turns.close()
        left.abort()
      },
      choices: choicesOf(session, offers),
    }
    open.set(id, known)
    return known
  }

  return {
    // One that was made unheard stays empty.
    create: async (cwd) => opened(await patient(() => client.sessions.create({ directory: cwd, body: {} }))),
    async open(sessionId, cwd) {
      const session = await patient(() => client.sessions.get({ sessionId })).catch((error: unknown) => {
        throw error instanceof SvcClientError && error.code === 'resource.not_found' ? RequestError.resourceNotFound(sessionId) : error
      })
      if (cwd !== undefined && session.directory !== cwd)
        throw RequestError.invalidParams({ cwd, directory: session.directory }, 'the session works in another directory')
      return opened(session)
    },
    get(sessionId) {
      const found = open.get(sessionId)
      if (found === undefined) throw RequestError.invalidParams({ sessionId }, 'no such session is open: create or load it first')
      return found
    },
    close(sessionId) {
      open.get(sessionId)?.leave()
      open.delete(sessionId)
    },
    unattendAll() {
      for (const each of open.values()) each.unattend()
    },
    async replay({ id, teller }) {
      const todos = await patient(() => client.sessions.todos({ sessionId: id }))
      for await (const message of history(client, id)) teller.message(message)
      if (todos.length > 0) teller.aside({ type: 'todo.updated', data: { sessionID: id, todos } } as never)
    },
    async tellCommands({ cwd, teller }) {
      const commands = await client.commands.list({ directory: cwd })
      const offered = commands.map(({ name, description, template }): AvailableCommand => {
        const takes = /\$(?:ARGUMENTS|\d)/.test(template ?? '')
        return { name, description: description ?? name, ...(takes && { input: { hint: 'what to tell it' } }) }
      })
      const compact = { name: 'compact', description: 'Make the conversation shorter for the model.' }
      teller.send({
        sessionUpdate: 'available_commands_update',
        availableCommands: [...offered.filter(({ name }) => name !== 'compact'), compact],
      })
    },
  }
}

/** What an editor is told of a session it has opened. */
export function stateOf({ offers, choices }: Opened) {
  return { modes: modesOf(offers, choices), models: modelsOf(offers, choices), configOptions: optionsOf(offers, choices) }
}

/** Makes a choice, and tells the editor where it did not make it by that name. */
export function makeChoice(opened: Opened, configId: string, value: unknown): void {
  opened.choices = choose(opened.offers, opened.choices, configId, value)
}

function choicesOf({ agent, model }: Session, offers: Offers): Choices {
  const { byDefault, agents, models } = offers
  const named = model === undefined ? undefined : `${model.providerId}/${model.id}`
  return {
    agent: agents.find(({ name }) => name === agent)?.name ?? byDefault.agent,
    model: models.find(({ id }) => id === named)?.id ?? byDefault.model,
    variant: model?.variant,
  }
}

function windowOf(opened: Opened | undefined): number {
  return opened?.offers.models.find(({ id }) => id === opened.choices.model)?.context ?? 0
}

async function* history(client: Client, sessionId: string): AsyncIterable<Message> {
  let cursor: string | undefined
  do {
    const page = await patient(() => client.sessions.messages({ sessionId, order: 'asc', limit: PAGE, cursor }))
    yield* page.items
    cursor = page.cursor.next
  } while (cursor !== undefined)
}
