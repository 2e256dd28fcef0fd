/** Shell text as a plain syntax tree: tree-sitter's bash grammar, with limits on size, depth and time. */
import type { Parser, Tree } from 'web-tree-sitter'

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
const MAX_DEPTH = 200
const MAX_NODES = 40_000
const MAX_PARSE_MS = 500

/**
 * Makes a parser that loads its grammar at the first use; `monotonic` (ms) bounds the time of one parse.
 *
 * I1 Every text is parsed by a parser of its own: the grammar's scanner keeps state, and how one command is
 *    read must never depend on another.
 */
export function createShellParser(grammar: ShellGrammar, monotonic: () => number): ShellParser {
  let loading: Promise<() => Parser> | undefined
  return {
    async parse(source) {
      if (source.length > MAX_SOURCE) return { refused: `the command is longer than ${MAX_SOURCE} characters` }
      loading ??= loadGrammar(grammar).catch((error: unknown) => {
        loading = undefined
        throw error
      })
      const createParser = await loading
      const parser = createParser() // I1
      try {
        return parseSource(parser, source, monotonic)
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

function parseSource(parser: Parser, source: string, monotonic: () => number): ShellParse {
  const deadline = monotonic() + MAX_PARSE_MS
  const tree = parser.parse(source, null, { progressCallback: () => monotonic() > deadline })
  if (tree === null) return { refused: 'the command takes too long to analyse' }
  try {
    if (tree.rootNode.hasError) return { refused: 'the command is not complete shell syntax, or uses syntax that is not understood' }
    const root = toPlain(tree, source)
    return root === undefined ? { refused: 'the command is nested too deeply' } : { root }
  } finally {
    tree.delete()
  }
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
function toPlain(tree: Tree, source: string): ShellNode | undefined {
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
      if (nodes > MAX_NODES || open.length > MAX_DEPTH) return undefined
      if (cursor.gotoFirstChild()) open.push(node)
      else descending = cursor.gotoNextSibling()
    }
    return root
  } finally {
    cursor.delete()
  }
}
