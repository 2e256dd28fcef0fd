/**
 * What happens in a conversation, as lines: those that are done, and those that still change. Pure but for what it remembers.
 *
 * I1 Everything is told once, however often it is heard: by its event, and again when a lost connection is back.
 * I2 Text extends what is shown of its part; a whole part adds what is missing of it.
 * I3 Nothing that is done is taken back: of a step that failed it is said that it does not count.
 * I4 What a message goes on with ends what it said before, for now: a text that is extended later goes on below.
 */
import type { MessageInfo, Part, ToolPart } from '../../../protocol/message/message.js'
import type { SessionStatus } from '../../../protocol/session/session.js'
import { isNotice } from '../../../protocol/text/runtime-marks.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { attemptText } from '../../terminal/attempt-text.js'
import { type Line, span, wrap } from '../../terminal/span.js'
import { seconds, toolCard } from '../../terminal/tool-card.js'
import { noticeText, thoughtLines, toolLine, userLines } from './blocks.js'
import { depthOf, type Family, familyOf, nested, withMember } from './family.js'
import type { Heard } from './heard.js'
import { blockLines, more, NOTHING, type OpenText, take, takeAll } from './open-text.js'

export interface StoryOptions {
  readonly sessionId: string
  readonly isVerbose: boolean
  /** What the model thinks is shown whole. */
  readonly isThinking: () => boolean
  /** The prompt of that message stands there already. */
  readonly isEchoed: (messageId: string) => boolean
  readonly now: () => number
  /** Something stands above already. */
  readonly isAfter: boolean
}

export interface Story {
  hear(event: Heard): void
  /** Lines of ours between those of the conversation. */
  tell(lines: readonly Line[]): void
  /** What is done since the last call, for a screen of `width` columns on which `height` rows may still change. */
  take(width: number, height: number): readonly Line[]
  /** What still changes. */
  live(width: number, height: number): readonly Line[]
  /** What goes on, and since when. */
  readonly activity: { readonly text: string; readonly since: number; readonly until?: number } | undefined
  /** Something is told, or will be. */
  readonly isBegun: boolean
  /** Of the newest answer. */
  readonly answer: Extract<MessageInfo, { role: 'assistant' }> | undefined
}

type Kind = 'user' | 'text' | 'tool' | 'note' | 'thought'
interface Block {
  readonly kind: Kind
  /** Goes on where the last one ended. */
  readonly isGlued?: boolean
  lines(width: number): readonly Line[]
}
type Open =
  | { readonly type: 'text'; readonly messageId: string; readonly text: OpenText }
  | {
      readonly type: 'thought'
      readonly messageId: string
      readonly text: string
      readonly since: number
      readonly end?: number | undefined
    }
  | { readonly type: 'tool'; readonly messageId: string; readonly part: ToolPart; readonly depth: number }

interface Telling {
  readonly options: StoryOptions
  readonly done: Block[]
  readonly open: Map<string, Open>
  /** Parts that are done, and messages, by id (I1). */
  readonly told: Set<string>
  readonly infos: Map<string, MessageInfo>
  readonly steps: Map<string, string>
  /** Something of these messages is done. */
  readonly begun: Set<string>
  family: Family
  last: Kind | undefined
  activity: Story['activity']
  answer: Story['answer']
}

export function createStory(options: StoryOptions): Story {
  const telling: Telling = {
    options,
    done: [],
    open: new Map(),
    told: new Set(),
    infos: new Map(),
    steps: new Map(),
    begun: new Set(),
    family: familyOf(options.sessionId),
    last: options.isAfter ? 'note' : undefined,
    activity: undefined,
    answer: undefined,
  }
  return {
    hear: (event) => hear(telling, event),
    tell: (lines) => void telling.done.push({ kind: 'note', lines: (width) => lines.flatMap((line) => wrap(line, width, 2)) }),
    take: (width, height) => taken(telling, width, height),
    live: (width, height) => live(telling, width, height),
    get activity() {
      return telling.activity
    },
    get isBegun() {
      return telling.last !== undefined || telling.done.length > 0
    },
    get answer() {
      return telling.answer
    },
  }
}

function hear(telling: Telling, event: Heard): void {
  switch (event.type) {
    case 'session.created':
    case 'session.updated':
      telling.family = withMember(telling.family, event.data.info)
      return
    case 'message.updated':
      return onMessage(telling, event.data.info)
    case 'message.part.delta': {
      const { sessionID, messageID, partID, partType, field, delta } = event.data
      if (sessionID !== telling.options.sessionId || field !== 'text' || telling.told.has(partID)) return
      if (!isShown(telling.infos.get(messageID))) return
      if (partType === 'text') extend(telling, partID, messageID, delta)
      if (partType === 'reasoning') think(telling, partID, messageID, delta)
      return
    }
    case 'message.part.updated':
      return onPart(telling, event.data.part)
    case 'session.status':
      if (event.data.sessionID === telling.options.sessionId) onStatus(telling, event.data.status)
      return
    case 'session.error':
      if (event.data.sessionID === telling.options.sessionId) say(telling, event.data.error.message, 'red')
      return
    case 'session.next.compaction.started':
      if (event.data.sessionID === telling.options.sessionId) act(telling, 'compacting the conversation')
      return
    case 'session.compacted':
      if (event.data.sessionID === telling.options.sessionId)
        say(telling, 'the conversation was compacted: a summary stands for what came before')
      return
    case 'session.background_task.completed':
      if (event.data.sessionID === telling.options.sessionId) say(telling, `in the background, ${event.data.status}: ${event.data.command}`)
      return
    default:
  }
}

function onMessage(telling: Telling, info: MessageInfo): void {
  const known = telling.infos.get(info.id)
  telling.infos.set(info.id, info)
  if (info.sessionId !== telling.options.sessionId || info.role === 'user') return
  if (info.mode !== 'compaction') telling.answer = info
  if (info.time.completed === undefined) {
    if (known === undefined) act(telling, 'waiting for the model')
    return
  }
  for (const [id, open] of telling.open) if (open.messageId === info.id) close(telling, id, open)
  if (info.error === undefined || telling.told.has(info.id)) return
  telling.told.add(info.id)
  if (info.error.interrupted === true) say(telling, 'interrupted')
  else say(telling, info.error.message, 'red')
}

function onPart(telling: Telling, part: Part): void {
  const { told, infos, options } = telling
  const info = infos.get(part.messageId)
  if (part.type === 'tool') return onTool(telling, part)
  if (info === undefined || part.sessionId !== options.sessionId || told.has(part.id)) return
  if (info.role === 'user') {
    if (part.type === 'text' && part.synthetic !== true) {
      told.add(part.id)
      if (isNotice(info.system)) return say(telling, noticeText(part.text))
      if (options.isEchoed(part.messageId)) return
      telling.done.push({ kind: 'user', lines: (width) => userLines(part.text, width) })
    } else if (part.type === 'file') {
      told.add(part.id)
      telling.done.push({ kind: 'note', lines: () => [[span(`  with ${printable(part.filename ?? part.mime)}`, 'dim')]] })
    }
    return
  }
  if (!isShown(info)) return
  if (part.type === 'step-start') return onStep(telling, part.messageId, part.id)
  const isOver = info.time.completed !== undefined || ('time' in part && (part.time as { end?: number } | undefined)?.end !== undefined)
  if (part.type === 'text' && part.synthetic !== true) {
    const open = telling.open.get(part.id)
    const length = open?.type === 'text' ? open.text.length : 0
    extend(telling, part.id, part.messageId, part.text.slice(length))
  } else if (part.type === 'reasoning') {
    const open = telling.open.get(part.id)
    const length = open?.type === 'thought' ? open.text.length : 0
    think(telling, part.id, part.messageId, part.text.slice(length), part.time)
  } else return
  const now = telling.open.get(part.id)
  if (isOver && now !== undefined) close(telling, part.id, now)
}

/** A summary stands for what was said, and is not said itself. */
function isShown(info: MessageInfo | undefined): boolean {
  return info !== undefined && (info.role === 'user' || info.mode !== 'compaction')
}

/** I3. Another step in the same message tries the last one again. */
function onStep(telling: Telling, messageId: string, stepId: string): void {
  const before = telling.steps.get(messageId)
  telling.steps.set(messageId, stepId)
  if (before === undefined || before === stepId) return
  let isShown = telling.begun.delete(messageId)
  for (const [id, open] of telling.open) {
    if (open.messageId !== messageId || open.type === 'tool') continue
    telling.open.delete(id)
    isShown ||= open.type === 'text' && open.text.isBegun
  }
  if (isShown) say(telling, 'the attempt failed; what it said above does not count')
}

function onTool(telling: Telling, part: ToolPart): void {
  const depth = depthOf(telling.family, part.sessionId)
  if (depth === undefined || telling.told.has(part.id)) return
  pause(telling, part.messageId, part.id)
  const open: Open = { type: 'tool', messageId: part.messageId, part, depth }
  telling.open.set(part.id, open)
  if (part.state.status === 'completed' || part.state.status === 'error') {
    close(telling, part.id, open)
    if (depth === 0) act(telling, 'waiting for the model')
  } else if (depth === 0) act(telling, part.tool)
}

function onStatus(telling: Telling, status: SessionStatus): void {
  if (status.type === 'idle') {
    telling.activity = undefined
    // What the server does not go on with.
    for (const [id, open] of telling.open) close(telling, id, open)
  } else if (status.type === 'retry') {
    const text = `${attemptText(status)}: ${printable(status.message ?? '').replace(/\.$/, '')}`
    telling.activity = { text, since: telling.options.now(), ...(status.next !== undefined && { until: status.next }) }
  } else if (telling.activity === undefined) act(telling, 'waiting for the model')
}

function act(telling: Telling, text: string): void {
  if (telling.activity?.text !== text) telling.activity = { text, since: telling.options.now() }
}

function extend(telling: Telling, id: string, messageId: string, added: string): void {
  const open = telling.open.get(id)
  // A step begins with a text that may stay empty.
  if (added === '') return
  pause(telling, messageId, id)
  telling.open.set(id, { type: 'text', messageId, text: more(open?.type === 'text' ? open.text : NOTHING, added) })
  act(telling, 'writing')
}

function think(
  telling: Telling,
  id: string,
  messageId: string,
  added: string,
  time?: { readonly start: number; readonly end?: number | undefined },
): void {
  const open = telling.open.get(id)
  if (open === undefined) pause(telling, messageId, id)
  const text = `${open?.type === 'thought' ? open.text : ''}${added}`
  const since = open?.type === 'thought' ? open.since : (time?.start ?? telling.options.now())
  telling.open.set(id, { type: 'thought', messageId, text, since, end: time?.end })
  act(telling, 'thinking')
}

/** I4 */
function pause(telling: Telling, messageId: string, nextId: string): void {
  for (const [id, open] of telling.open) {
    if (open.messageId !== messageId || id === nextId || open.type === 'tool') continue
    if (open.type === 'thought') close(telling, id, open)
    else {
      for (const piece of takeAll(open.text)) putText(telling, messageId, piece)
      telling.open.set(id, { ...open, text: { ...NOTHING, length: open.text.length } })
    }
  }
}

function close(telling: Telling, id: string, open: Open): void {
  telling.open.delete(id)
  telling.told.add(id)
  if (open.type === 'text') for (const piece of takeAll(open.text)) putText(telling, open.messageId, piece)
  else if (open.type === 'thought') {
    const took = (open.end ?? telling.options.now()) - open.since
    const isWhole = telling.options.isThinking()
    if (open.text.trim() !== '') telling.done.push({ kind: 'thought', lines: (width) => thoughtLines(open.text, took, isWhole, width) })
  } else putTool(telling, open.part, open.depth)
}

function putText(telling: Telling, messageId: string, { text, isGlued }: { readonly text: string; readonly isGlued: boolean }): void {
  telling.begun.add(messageId)
  telling.done.push({ kind: 'text', isGlued, lines: (width) => blockLines(text, width) })
}

function putTool(telling: Telling, part: ToolPart, depth: number): void {
  const { isVerbose } = telling.options
  telling.done.push({
    kind: 'tool',
    lines(width) {
      if (part.state.status !== 'completed' && part.state.status !== 'error') return [nested(toolLine(part, width - 2 * depth, '–'), depth)]
      const card = toolCard(part, { width: width - 2 * depth, isVerbose: isVerbose && depth === 0 })
      return (depth > 0 && !isVerbose ? card.slice(0, 1) : card).map((line) => nested(line, depth))
    },
  })
}

function say(telling: Telling, text: string, style: 'dim' | 'red' = 'dim'): void {
  telling.done.push({ kind: 'note', lines: (width) => wrap([span(printable(text), style)], width) })
}

function taken(telling: Telling, width: number, height: number): readonly Line[] {
  for (const [id, open] of telling.open) {
    if (open.type !== 'text') continue
    const { open: text, done } = take(open.text, width, height)
    for (const piece of done) putText(telling, open.messageId, piece)
    if (text !== open.text) telling.open.set(id, { ...open, text })
  }
  return telling.done.splice(0).flatMap((block) => {
    const lines = block.lines(width)
    if (lines.length === 0) return []
    const isApart = block.isGlued !== true && needsRoom(telling.last, block.kind)
    telling.last = block.kind
    return isApart ? [[], ...lines] : lines
  })
}

/** Cards stand below each other, and so do notes; everything else has a blank line before it. */
function needsRoom(last: Kind | undefined, kind: Kind): boolean {
  if (last === undefined) return false
  return !(last === kind && (kind === 'tool' || kind === 'note')) && !(kind === 'note' && last === 'user')
}

function live(telling: Telling, width: number, height: number): readonly Line[] {
  let { last } = telling
  const lines = [...telling.open.values()].flatMap((open) => {
    const [kind, shown] = openLines(telling, open, width)
    if (shown.length === 0) return []
    const isApart = !(open.type === 'text' && open.text.isCut) && needsRoom(last, kind)
    last = kind
    return isApart ? [[], ...shown] : shown
  })
  return lines.flatMap((line) => (line.length === 0 ? [line] : wrap(line, width))).slice(-height)
}

function openLines({ options }: Telling, open: Open, width: number): readonly [Kind, readonly Line[]] {
  if (open.type === 'text') return ['text', blockLines(open.text.rest, width)]
  if (open.type === 'tool') return ['tool', [nested(toolLine(open.part, width - 2 * open.depth, '○'), open.depth)]]
  const head: Line = [span(`∴ thinking  ${seconds(options.now() - open.since)}`, 'dim')]
  return ['thought', options.isThinking() ? [head, ...wrap([span(open.text.slice(-width * 3), 'dim', 'italic')], width).slice(-3)] : [head]]
}
