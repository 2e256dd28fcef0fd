/** `svc chat`: turns over the stream of `svc run`, with a line to type in below. */
import type { Client } from '../../../published/client/client-types.js'
import type { ChatOptions } from './chat-page.js'
import { connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { isAttended, isWatched, openEditor } from '../../terminal/output.js'
import { createAnswers } from '../../answers/answers.js'
import { chooseModel } from '../run/model-choice.js'
import { openSession } from '../run/run.js'
import { existingSession } from '../session/existing-session.js'
import { saidLast } from '../session/session-show.js'
import { createTakenBack } from '../run/taken-back.js'
import { createTerminal, type Terminal } from '../../terminal/terminal.js'
import { wrongUse } from '../../line/wrong-use.js'
import { type Asking, askingTerminal } from './asking.js'
import { keepHistory, readHistory } from './chat-history.js'
import { offered } from './chat-lines.js'
import { attend, interrupt } from './chat-turns.js'
import { onInterrupt, onLine, type Typing } from './chat-typing.js'
import { shareStatusLine } from './status-line.js'
import { createSteering } from './steering.js'

/** Messages of a conversation that goes on. */
const SHOWN = 4

/** Talks until the person leaves; answers 0. */
export async function chat(options: ChatOptions): Promise<number> {
  if (!isAttended() || !isWatched()) throw wrongUse('svc chat needs a terminal; svc run is for programs')
  const connection = await connect(options.server, { isApart: true })
  try {
    await talk(connection.client, options)
    return 0
  } finally {
    await connection.close()
  }
}

async function talk(client: Client, options: ChatOptions): Promise<void> {
  const plain = createTerminal()
  const left = new AbortController()
  const talking = await begin({ client, options, plain, left, retype: (text) => editor.type(text) })
  const { terminal, known, directory } = talking
  terminal.note('/help lists commands, Ctrl-D leaves')
  const editor = openEditor({
    history: readHistory(),
    complete: (line) => offered(line, known, directory),
    onLine: (line) => onLine(talking, line),
    onInterrupt: (typed) => onInterrupt(talking, typed),
    onEnd: () => left.abort(),
    onHistory: keepHistory,
  })
  await new Promise<void>((resolve) => left.signal.addEventListener('abort', () => resolve()))
  while (talking.following.size > 0) {
    await interrupt(talking)
    await Promise.allSettled(talking.following)
  }
  talking.attending.abort()
  editor.close()
  plain.note(`go on with: svc chat --session ${talking.sessionId}`)
}

interface Given extends Pick<Typing, 'client' | 'options' | 'left' | 'retype'> {
  readonly plain: Terminal
}

/** Opens the session, and attends to it. */
async function begin({ client, options, plain, left, retype }: Given): Promise<Typing> {
  const directory = directoryOn(options.server, options.directory)
  const commands = await client.commands.list({ directory })
  const existing = await existingSession(client, options)
  const model = options.model === undefined ? undefined : await chooseModel(client, existing?.directory ?? directory, options.model)
  const sessionId = await openSession(client, existing, options, plain)
  if (existing !== undefined) plain.text(await saidLast(client, sessionId, SHOWN))
  const asking: Asking = { answer: undefined }
  const terminal = askingTerminal(plain, asking)
  const answers = createAnswers('ask', terminal, () => client.interactions)
  const talking: Typing = {
    client,
    options,
    directory,
    terminal,
    answers,
    takenBack: createTakenBack(() => talking.sessionId),
    statusLine: shareStatusLine(terminal.status),
    retype,
    steering: createSteering(client),
    mine: new Map(),
    back: new Set(),
    runs: new Set(),
    following: new Set(),
    sessionId,
    model,
    agent: options.agent,
    isThinking: options.isThinking,
    lines: '',
    attending: attend({ client, sessionId, answers, terminal }),
    asking,
    commands,
    known: commands.map(({ name }) => name),
    left,
    warned: '',
  }
  return talking
}
