/** TypeScript sources as the architecture rules see them: their imports, and their code without comments and texts. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

export interface SourceFile {
  /** From the repository root, e.g. `src/store/open.ts`. */
  readonly path: string
  readonly text: string
}

export interface Import {
  readonly specifier: string
  /** Imports nothing that exists at run time. */
  readonly typeOnly: boolean
  /** Names taken as values; empty for namespace and side-effect imports. */
  readonly values: readonly string[]
}

const STATIC = /^(?:import|export)\s+(type\s+)?([^'"`;()]*?)\s*from\s*(['"])([^'"]+)\3/gm
const BARE = /^import\s*(['"])([^'"]+)\1/gm
/** Whatever the first operand is, the last one is a text of letters. */
const MADE = /\bRegExp\([^\n]*,\s*['"`]([a-z]*)['"`]\s*,?\s*\)/g
const DYNAMIC = /\bimport\(\s*(['"])([^'"]+)\1\s*\)/g

let all: readonly SourceFile[] | undefined

/** Every file of `src`, read once. */
export function sources(): readonly SourceFile[] {
  const root = new URL('../../src/', import.meta.url)
  all ??= readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ path: `src/${name}`, text: readFileSync(new URL(name, root), 'utf8') }))
  return all
}

/** Many rules read the same texts. */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text) ?? read(text)
    known.set(text, found)
    return found
  }
}

/** Every import and re-export of a file. */
export const importsOf = remembered((text): readonly Import[] => {
  const code = withoutComments(text)
  const found: Import[] = []
  for (const [, typeWord, clause = '', , specifier = ''] of code.matchAll(STATIC)) {
    const values = valueNames(clause)
    const onlyTypes = typeWord !== undefined || (clause.startsWith('{') && values.length === 0)
    found.push({ specifier, typeOnly: onlyTypes, values: onlyTypes ? [] : values })
  }
  for (const [, , specifier = ''] of code.matchAll(BARE)) found.push({ specifier, typeOnly: false, values: [] })
  for (const [, , specifier = ''] of code.matchAll(DYNAMIC)) found.push({ specifier, typeOnly: false, values: [] })
  return found
})

/** The files of the tree a file imports. */
export function neighbours(path: string, text: string): string[] {
  return importsOf(text)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => target(path, specifier))
}

/** The file a relative specifier stands for. */
export function target(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
}

/** `{ type A, b as c }` → `b`; `* as x` and a default name count as `*`. */
function valueNames(clause: string): string[] {
  const braces = /\{([^}]*)\}/.exec(clause)
  const named = (braces?.[1] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s+as\s+/)[0] ?? name)
  const rest = clause.replace(/\{[^}]*\}/, '').replace(/[,\s]/g, '')
  return rest === '' ? named : [...named, '*']
}

/** The code with comments blanked; texts stay. Line numbers stay. */
const withoutComments = remembered((text) => scan(text, (kind, piece) => (kind === 'comment' ? blank(piece) : piece)))

/** The flags of every regular expression that stands in the code, or that the code makes with flags that stand there. */
export function expressionFlags(text: string): string[] {
  const found: string[] = []
  scan(text, (kind, piece) => {
    const flags = kind === 'text' ? /^\/[\s\S]+\/([a-z]*)$/.exec(piece)?.[1] : undefined
    if (flags !== undefined) found.push(flags)
    return piece
  })
  return [...found, ...[...withoutComments(text).matchAll(MADE)].map(([, flags = '']) => flags)]
}

/** The code with comments, texts and regular expressions blanked. */
export const codeOnly = remembered((text) => scan(text, (kind, piece) => (kind === 'code' ? piece : blank(piece))))

type Kind = 'code' | 'comment' | 'text'

// A comment, a quoted text, or a regular expression where an operand may stand.
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?<=(?:[=(,:;!&|?{}[\n>+]|\b(?:return|case|typeof))\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
// What begins none of these, and opens and closes nothing.
const PLAIN = /[^'"`/{}]+/y
// Template text up to its end or its next substitution.
const TEMPLATE = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y

/** Cuts a file into code, comments and texts; a substitution inside a template is code again. */
function scan(text: string, keep: (kind: Kind, piece: string) => string): string {
  let out = ''
  let at = 0
  /** Open braces of each substitution we are in. */
  const depths: number[] = []

  function take(kind: Kind, pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const piece = pattern.exec(text)?.[0]
    if (piece === undefined) return undefined
    out += keep(kind === 'text' && /^\/[/*]/.test(piece) ? 'comment' : kind, piece)
    at += piece.length
    return piece
  }

  function template(): void {
    if (take('text', TEMPLATE)?.endsWith('${')) depths.push(0)
  }

  while (at < text.length) {
    if ((take('code', PLAIN) ?? take('text', TOKEN)) !== undefined) continue
    const character = text.charAt(at++)
    const depth = depths.at(-1)
    out += keep('code', character)
    if (character === '`') template()
    else if (depth !== undefined && character === '{') depths.push((depths.pop() ?? 0) + 1)
    else if (depth === 0 && character === '}') {
      depths.pop()
      template()
    } else if (depth !== undefined && character === '}') depths.push((depths.pop() ?? 0) - 1)
  }
  return out
}

function blank(piece: string): string {
  return piece.replace(/[^\n]/g, ' ')
}
