/** What the files of a workspace declare. Lines are looked at, and nothing is parsed: what stands in a text or a comment counts as well. */

export interface Declaration {
  readonly name: string
  readonly path: string
  readonly line: number
  readonly text: string
}

export interface Index {
  readonly files: number
  readonly declarations: readonly Declaration[]
}

/** What it needs of a call. */
interface Call {
  readonly signal: AbortSignal
  readonly host: {
    readonly workspace: { list(path: string): Promise<readonly string[]>; read(path: string): Promise<Uint8Array> }
  }
}

const FILES = 500
const DEEPEST = 8
const LINE = 160
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'target', 'vendor', '__pycache__'])

const SCRIPT = /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|const)\s+([\w$]+)/
/** What declares something, by the end of the name of a file. */
const PATTERNS = new Map(
  Object.entries({
    ts: SCRIPT,
    mts: SCRIPT,
    tsx: SCRIPT,
    js: SCRIPT,
    mjs: SCRIPT,
    jsx: SCRIPT,
    py: /^\s*(?:async\s+)?(?:def|class)\s+(\w+)/,
    go: /^(?:func(?:\s+\([^)]*\))?|type)\s+(\w+)/,
    rs: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|type|const)\s+(\w+)/,
    lua: /^\s*(?:local\s+)?function\s+([\w.:]+)/,
  }),
)

/** One index for everybody who asks, until it is forgotten. */
export function createIndex(): { of(call: Call): Promise<Index>; forget(): void } {
  let made: Promise<Index> | undefined
  return {
    of(call) {
      const making = (made ??= make(call))
      making.catch(() => (made === making ? (made = undefined) : undefined))
      return making
    },
    forget: () => (made = undefined),
  }
}

async function make(call: Call): Promise<Index> {
  const declarations: Declaration[] = []
  let files = 0
  for await (const path of codeBelow(call, '.', 0)) {
    if (++files > FILES) break
    const bytes = await call.host.workspace.read(path).catch(() => new Uint8Array()) // too large, or gone
    declarations.push(...declaredIn(path, new TextDecoder().decode(bytes)))
  }
  return { files: Math.min(files, FILES), declarations }
}

/** The host names what is in a folder, and does not say which of it are folders: what has no ending may be one. */
async function* codeBelow(call: Call, folder: string, depth: number): AsyncGenerator<string> {
  call.signal.throwIfAborted()
  const names = await call.host.workspace.list(folder).catch((error: unknown) => (depth === 0 ? Promise.reject(error) : []))
  for (const name of names) {
    const path = folder === '.' ? name : `${folder}/${name}`
    if (name.startsWith('.') || SKIPPED.has(name)) continue
    if (patternOf(name) !== undefined) yield path
    else if (!name.includes('.') && depth < DEEPEST) yield* codeBelow(call, path, depth + 1)
  }
}

function declaredIn(path: string, text: string): Declaration[] {
  const pattern = patternOf(path)
  return text.split('\n').flatMap((line, index) => {
    const name = line.length <= 1000 ? pattern?.exec(line)?.[1] : undefined
    return name === undefined ? [] : [{ name, path, line: index + 1, text: line.trim().slice(0, LINE) }]
  })
}

function patternOf(name: string): RegExp | undefined {
  return PATTERNS.get(/\.(\w+)$/.exec(name)?.[1] ?? '')
}
