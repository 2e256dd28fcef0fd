/** Shell text as a plain syntax tree: tree-sitter's bash grammar, with limits on size, depth and time. */
import type { Parser, Tree } from 'web-tree-sitter'
import type { Pause } from '../../../kernel/pause.js'

/** Where the two WebAssembly modules come from; called once, at the first parse. */
export interface ShellGrammar {
  /** `web-tree-sitter.wasm`. */
  core(): Promise<Uint8Array>
  /** `tree-sitter-bash.wasm`. */
  bash(): Promise<Uint8Array>
}

export interface ShellNode {
  readonly type: string
  readonly named: boolean
  readonly start: number
  readonly end: number
  readonly text: string
  readonly children: readonly ShellNode[]
}

/** `refused` says why there is no tree; such a line cannot be judged. */
type ShellParse = { readonly root: ShellNode } | { readonly refused: string }

export interface ShellParser {
  parse(source: string): Promise<ShellParse>
}

const MAX_SOURCE = 16 * 1024
/** Characters from which on others have their turn between the parts of the work. */
export const LONG = 1024
const MAX_DEPTH = 200
const MAX_NODES = 40_000
const MAX_PARSE_MS = 500
/** How long a parse may keep the event loop, and nodes copied before others have their turn. */
const SLICE_MS = 8
const AT_ONCE = 2048

/**
 * Makes a parser that loads its grammar at the first use; `monotonic` (ms) bounds the time of one parse, and `pause` is waited for between
 * its parts.
 *
 * I1 Every text is parsed by a parser of its own: the grammar's scanner keeps state, and how one command is
 *    read must never depend on another.
 * I2 A long text is parsed in slices of time: a parser that was stopped goes on where it was, with the same outcome.
 * I3 A slice that took longer was interrupted: a text is not refused because a machine is busy elsewhere.
 */
export function createShellParser(grammar: ShellGrammar, monotonic: () => number, pause: Pause): ShellParser {
  let loading: Promise<() => Parser> | undefined
  return {
    async parse(source) {
      if (source.length > MAX_SOURCE) return { refused: `the command is longer than ${MAX_SOURCE} characters` }
      loading ??= loadGrammar(grammar).catch((error: unknown) => {
        loading = undefined
        throw error
      })
      const createParser = await loading
      if (source.length > LONG) await pause()
      const parser = createParser() // I1
      try {
        return await parseSource(parser, source, { monotonic, pause })
      } finally {
        parser.delete()
      }
    },
  }
}

async function loadGrammar(grammar: ShellGrammar): Promise<() => Parser> {
  const [treeSitter, core, bash] = await Promise.all([import('web-tree-sitter'), grammar.core(), grammar.bash()])
  await treeSitter.Parser.init({ wasmBinary: core.slice().buffer })
  const language = await treeSitter.Language.load(bash)
  return () => new treeSitter.Parser().setLanguage(language)
}

interface Pace {
  readonly monotonic: () => number
  readonly pause: Pause
}

async function parseSource(parser: Parser, source: string, pace: Pace): Promise<ShellParse> {
  const tree = await parseInSlices(parser, source, pace)
  if (tree === null) return { refused: 'the command takes too long to analyse' }
  try {
    if (tree.rootNode.hasError) return { refused: 'the command is not complete shell syntax, or uses syntax that is not understood' }
    const root = await toPlain(tree, source, pace.pause)
    return root === undefined ? { refused: 'the command is nested too deeply' } : { root }
  } finally {
    tree.delete()
  }
}

/** I2 */
async function parseInSlices(parser: Parser, source: string, { monotonic, pause }: Pace): Promise<Tree | null> {
  for (let spent = 0; spent <= MAX_PARSE_MS; ) {
    const began = monotonic()
    const tree = parser.parse(source, null, { progressCallback: () => monotonic() - began > SLICE_MS })
    if (tree !== null) return tree
    spent += Math.min(monotonic() - began, SLICE_MS) // I3
    await pause()
  }
  return null
}

interface Building {
  readonly type: string
  readonly named: boolean
  readonly start: number
  readonly end: number
  readonly text: string
  readonly children: Building[]
}

/** Copies the tree out of WebAssembly memory without recursion; undefined beyond the limits. */
async function toPlain(tree: Tree, source: string, pause: Pause): Promise<ShellNode | undefined> {
  const cursor = tree.walk()
  const current = (): Building => {
    const { startIndex: start, endIndex: end } = cursor
    return { type: cursor.nodeType, named: cursor.nodeIsNamed, start, end, text: source.slice(start, end), children: [] }
  }
  try {
    const root = current()
    const open = [root]
    let nodes = 1
    let descending = cursor.gotoFirstChild()
    while (open.length > 0) {
      const parent = open[open.length - 1]
      if (parent === undefined) break
      if (!descending) {
        open.pop()
        if (open.length === 0) break
        cursor.gotoParent()
        descending = cursor.gotoNextSibling()
        continue
      }
      const node = current()
      parent.children.push(node)
      nodes += 1
      if (nodes % AT_ONCE === 0) await pause()
      if (nodes > MAX_NODES || open.length > MAX_DEPTH) return undefined
      if (cursor.gotoFirstChild()) open.push(node)
      else descending = cursor.gotoNextSibling()
    }
    return root
  } finally {
    cursor.delete()
  }
}
