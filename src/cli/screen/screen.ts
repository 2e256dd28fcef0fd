/** `svc` alone: a conversation on the screen of a terminal. */
import { keepHistory, readHistory } from '../commands/chat/chat-history.js'
import { pathsFor } from '../commands/chat/chat-lines.js'
import type { ChatOptions, ScreenOptions } from '../commands/chat/chat-page.js'
import { SLASH } from '../commands/chat/slash/slash-commands.js'
import { wrongUse } from '../line/wrong-use.js'
import { isAttended, isScreen, isWatched, openScreen, type RawScreen, writeError } from '../terminal/output.js'
import { clipboardImage } from './clipboard.js'
import { editorRows } from './input/editor-view.js'
import { createKeys } from './input/keys.js'
import { FRAME_MS, frameOf, roomFor, type Scene, type Size } from './paint/frame.js'
import { createPainter } from './paint/painter.js'
import { createSymbols } from './symbols.js'
import { type Conversation, createConversation } from './talk/conversation.js'
import { statusLine } from './talk/facts.js'
import { createTyping, type Typing } from './typing.js'

/** Several changes are one picture. */
const SOON_MS = 16
/** After an escape by itself. */
const HALF_MS = 40
const EDITOR_ROWS = 10

/** Talks until the person leaves; answers 0. */
export async function screen({ isPlain, ...options }: ScreenOptions): Promise<number> {
  if (!isAttended() || !isWatched())
    throw wrongUse('a command is needed; without one svc opens a conversation, for which it needs a terminal')
  if (isPlain || !isScreen()) return (await import('./plain.js')).plainScreen(options)
  return paintedScreen(options)
}

async function paintedScreen(options: ChatOptions): Promise<number> {
  const raw = openScreen()
  const painter = createPainter(raw.style)
  const began = Date.now()
  const last = () => {
    const { live, ...scene } = sceneOf(conversation, typing, raw.size(), began)
    raw.write(painter.paint(frameOf({ ...scene, done: [...scene.done, ...live], live: [] }, raw.size(), Date.now())))
  }
  const frames = createFrames(() => {
    const scene = sceneOf(conversation, typing, raw.size(), began)
    raw.write(painter.paint(frameOf(scene, raw.size(), Date.now())))
    return scene.activity !== undefined
  })
  const conversation = createConversation({
    options,
    width: () => raw.size().columns - 1,
    onChange: frames.soon,
    giveBack: (texts) => typing.giveBack(texts),
  })
  const typing = createTyping({
    conversation,
    sources: {
      commands: () => [...Object.keys(SLASH), ...conversation.known],
      agents: () => conversation.agents,
      files: (typed) => pathsFor(typed, conversation.directory),
      symbols: createSymbols(conversation, () => {
        typing.learn()
        frames.soon()
      }),
    },
    history: readHistory(),
    keep: keepHistory,
    pasteImage: clipboardImage,
    repaint: () => raw.write(painter.leave()),
    onChange: frames.soon,
  })
  listen(raw, typing, {
    onChange: frames.now,
    onResize(columns) {
      painter.resize(columns)
      frames.now()
    },
    onEnd: conversation.leave,
    above: (text) => conversation.note(text.trimEnd()),
  })
  frames.now()
  try {
    await conversation.ended
  } finally {
    frames.stop()
    last() // What is being written stays as far as it was seen.
    raw.write(painter.leave())
    raw.close()
    const { sessionId } = conversation
    if (sessionId !== undefined) writeError(`go on with: svc --session ${sessionId}\n`, 'dim')
    await conversation.close()
  }
  return 0
}

function sceneOf(conversation: Conversation, typing: Typing, { columns, rows }: Size, began: number): Scene {
  const { requests, facts, activity, waiting } = conversation
  typing.see(requests.question)
  const room = roomFor({ columns, rows })
  const { question, count } = requests
  const isOpening = conversation.is('opening')
  return {
    done: conversation.take(columns - 1, room),
    live: conversation.live(columns - 1, room),
    activity: isOpening ? { text: 'looking for the server', since: began } : question === undefined ? activity : undefined,
    waiting,
    question: count > 1 ? `${question}\n(and ${count - 1} more)` : question,
    hint: hintOf(conversation),
    editor: editorRows(typing.editor, columns, Math.max(1, Math.min(EDITOR_ROWS, Math.floor(rows / 3)))),
    offers: typing.offers,
    status: statusLine(facts, { isAway: conversation.is('away'), waiting: count }, columns),
  }
}

function hintOf(conversation: Conversation): string | undefined {
  if (conversation.is('aborting')) return 'stopping; Ctrl-C again leaves'
  return conversation.is('warned') ? 'Ctrl-C again, or Ctrl-D, leaves' : undefined
}

interface Frames {
  now(): void
  soon(): void
  stop(): void
}

/** `paint` answers whether something moves by itself. */
function createFrames(paint: () => boolean): Frames {
  let next: ReturnType<typeof setTimeout> | undefined
  let moving: ReturnType<typeof setTimeout> | undefined
  const stop = () => {
    clearTimeout(next)
    clearTimeout(moving)
    next = undefined
    moving = undefined
  }
  const now = () => {
    stop()
    if (paint()) moving = setTimeout(now, FRAME_MS)
  }
  return {
    now,
    soon: () => void (next ??= setTimeout(now, SOON_MS)),
    stop,
  }
}

interface Listening {
  readonly onChange: () => void
  readonly onResize: (columns: number) => void
  readonly onEnd: () => void
  readonly above: (text: string) => void
}

function listen(raw: RawScreen, typing: Typing, { onChange, ...others }: Listening): void {
  const keys = createKeys()
  let half: ReturnType<typeof setTimeout> | undefined
  const press = (inputs: ReturnType<typeof keys.flush>) => {
    for (const input of inputs) typing.press(input)
    onChange()
  }
  raw.listen({
    ...others,
    onText(text) {
      clearTimeout(half)
      press(keys.feed(text))
      if (keys.isHalf) half = setTimeout(() => press(keys.flush()), HALF_MS)
    },
  })
}
