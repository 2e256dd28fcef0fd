/**
 * What is typed: several lines, what was typed before, and a search in that. Pure.
 *
 * I1 A long paste stands as one mark, and is what it is when it is sent.
 * I2 What was being typed comes back when one has gone through what was typed before.
 */
import { type Draft, EMPTY, insert, left, lineEnd, lineStart, remove, right, vertical, wordLeft, wordRight } from './draft.js'

export interface Editor {
  readonly draft: Draft
  /** The latest first. */
  readonly history: readonly string[]
  /** Where in the history; undefined in what is being typed. */
  readonly at?: number
  readonly typed: Draft
  /** I1 */
  readonly pastes: readonly string[]
  readonly killed: string
  readonly before: readonly Draft[]
  readonly search?: Search
}

interface Search {
  readonly query: string
  readonly at: number
  readonly begun: Draft
}

const HISTORY = 500
const UNDO = 100
const LONG_PASTE = { lines: 10, characters: 1000 }

export function createEditor(history: readonly string[]): Editor {
  return { draft: EMPTY, history, typed: EMPTY, pastes: [], killed: '', before: [] }
}

export function isEmpty({ draft, search }: Editor): boolean {
  return draft.text === '' && search === undefined
}

/** Replaces what is typed; undone by one step. */
export function change(editor: Editor, draft: Draft): Editor {
  const { search: _, at: __, ...rest } = editor
  return { ...rest, draft, before: [...editor.before.slice(-UNDO), editor.draft] }
}

export function type(editor: Editor, text: string): Editor {
  if (editor.search !== undefined) return look(editor, editor.search.query + text, 0)
  return change(editor, insert(editor.draft, text.replaceAll('\t', '  ')))
}

/** I1 */
export function paste(editor: Editor, text: string): Editor {
  if (editor.search !== undefined) return type(editor, text.split('\n', 1)[0] ?? '')
  const lines = text.split('\n').length
  if (lines <= LONG_PASTE.lines && text.length <= LONG_PASTE.characters) return type(editor, text)
  const pastes = [...editor.pastes, text]
  return change({ ...editor, pastes }, insert(editor.draft, markOf(pastes.length, text)))
}

function markOf(number: number, text: string): string {
  const lines = text.split('\n').length
  return `[paste ${number}: ${lines > 1 ? `${lines} lines` : `${text.length} characters`}]`
}

/** The whole of what is typed. */
export function textOf({ draft, pastes }: Editor): string {
  return pastes.reduce((text, pasted, index) => text.replace(markOf(index + 1, pasted), () => pasted), draft.text)
}

/** Sent: it is in the history, and nothing is typed. */
export function sent(editor: Editor): Editor {
  const text = textOf(editor)
  const history = text.trim() === '' ? editor.history : [text, ...editor.history.filter((each) => each !== text)].slice(0, HISTORY)
  return { ...createEditor(history), killed: editor.killed }
}

export function cleared(editor: Editor): Editor {
  return { ...createEditor(editor.history), killed: editor.killed, before: [...editor.before.slice(-UNDO), editor.draft] }
}

/** `texts` before what is typed. */
export function givenBack(editor: Editor, texts: readonly string[]): Editor {
  const text = [...texts, editor.draft.text].filter((each) => each !== '').join('\n')
  return change(editor, { text, cursor: text.length })
}

/** What a key makes of it; undefined where the key means nothing to an editor. */
export function press(editor: Editor, key: string): Editor | undefined {
  if (editor.search !== undefined) return searching(editor, editor.search, key)
  const { draft } = editor
  const moved = MOVES[key]
  if (moved !== undefined) return { ...editor, draft: { ...draft, cursor: moved(draft) } }
  const removed = REMOVALS[key]
  if (removed !== undefined) return kill(editor, removed.range(draft), removed.keeps)
  switch (key) {
    case 'up':
    case 'down': {
      const place = vertical(draft, key === 'up' ? -1 : 1)
      return place === undefined ? recall(editor, key === 'up' ? 1 : -1) : { ...editor, draft: { ...draft, cursor: place } }
    }
    case 'ctrl-p':
      return recall(editor, 1)
    case 'ctrl-n':
      return recall(editor, -1)
    case 'ctrl-y':
      return change(editor, insert(draft, editor.killed))
    case 'ctrl-_': {
      const last = editor.before.at(-1)
      return last === undefined ? editor : { ...editor, draft: last, before: editor.before.slice(0, -1) }
    }
    case 'ctrl-j':
    case 'alt-enter':
    case 'shift-enter':
      return change(editor, insert(draft, '\n'))
    case 'ctrl-r':
      return { ...editor, search: { query: '', at: 0, begun: draft } }
    default:
      return undefined
  }
}

const MOVES: Readonly<Record<string, (draft: Draft) => number>> = {
  left,
  right,
  'ctrl-b': left,
  'ctrl-f': right,
  home: lineStart,
  end: lineEnd,
  'ctrl-a': lineStart,
  'ctrl-e': lineEnd,
  'alt-b': wordLeft,
  'alt-f': wordRight,
  'ctrl-left': wordLeft,
  'ctrl-right': wordRight,
  'alt-left': wordLeft,
  'alt-right': wordRight,
}

interface Removal {
  range(draft: Draft): readonly [from: number, to: number]
  /** It can be put back with Ctrl-Y. */
  readonly keeps?: true
}

const REMOVALS: Readonly<Record<string, Removal>> = {
  backspace: { range: (draft) => [left(draft), draft.cursor] },
  delete: { range: (draft) => [draft.cursor, right(draft)] },
  'ctrl-d': { range: (draft) => [draft.cursor, right(draft)] },
  'ctrl-u': { range: (draft) => [lineStart(draft), draft.cursor], keeps: true },
  // At the end of a line the next one is joined.
  'ctrl-k': { range: (draft) => [draft.cursor, lineEnd(draft) > draft.cursor ? lineEnd(draft) : right(draft)], keeps: true },
  'ctrl-w': { range: (draft) => [wordLeft(draft), draft.cursor], keeps: true },
  'alt-backspace': { range: (draft) => [wordLeft(draft), draft.cursor], keeps: true },
  'alt-d': { range: (draft) => [draft.cursor, wordRight(draft)], keeps: true },
}

function kill(editor: Editor, [from, to]: readonly [number, number], keeps = false): Editor {
  if (from === to) return editor
  const changed = change(editor, remove(editor.draft, from, to))
  return keeps ? { ...changed, killed: editor.draft.text.slice(from, to) } : changed
}

/** I2. `older`: 1 goes back in time, -1 forth. */
function recall(editor: Editor, older: 1 | -1): Editor {
  const at = (editor.at ?? -1) + older
  if (at >= editor.history.length || at < -1) return editor
  const typed = editor.at === undefined ? editor.draft : editor.typed
  if (at === -1) return { ...change(editor, typed), typed }
  const text = editor.history[at] ?? ''
  return { ...change(editor, { text, cursor: text.length }), typed, at }
}

/** The next older entry with the query in it. */
function look(editor: Editor, query: string, from: number): Editor {
  const begun = editor.search?.begun ?? editor.draft
  const at = editor.history.findIndex((text, index) => index >= from && text.toLowerCase().includes(query.toLowerCase()))
  if (at < 0) return { ...editor, search: { query, at: from, begun } }
  const text = editor.history[at] ?? ''
  return { ...editor, draft: query === '' ? begun : { text, cursor: text.length }, search: { query, at, begun } }
}

function searching(editor: Editor, { query, at, begun }: Search, key: string): Editor | undefined {
  const { search: _, ...found } = editor
  switch (key) {
    case 'ctrl-r':
      return look(editor, query, at + 1)
    case 'backspace':
      return look(editor, query.slice(0, -1), 0)
    case 'escape':
    case 'ctrl-g':
    case 'ctrl-c':
      return { ...found, draft: begun }
    case 'enter':
    case 'tab':
      return found
    default:
      return press(found, key)
  }
}
