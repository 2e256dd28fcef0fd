/** What the two search engines, ripgrep and our own scan, have in common: the request, the rules of what is searched, the answer. */

export interface Tree {
  /** Canonical directory searches start from; paths in answers are relative to it. */
  readonly root: string
  /** Only this file of `root`, whatever the globs say. */
  readonly file: string | undefined
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly includeHidden: boolean
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

export interface TextQuery {
  /** Alternatives. */
  readonly patterns: readonly string[]
  readonly syntax: 'plain' | 'regex'
  readonly caseSensitive: boolean
  /** Lines shown before and after a match. */
  readonly context: number
}

export interface FoundLine {
  /** 1-based. */
  readonly number: number
  readonly text: string
  readonly matched: boolean
}

export interface FoundFile {
  /** Relative to the root. */
  readonly path: string
  /** Lines that match, all of them. */
  readonly matches: number
  /** Matching lines and those around them, ascending; not all when there are many. */
  readonly lines: readonly FoundLine[]
}

export type TextAnswer =
  | { readonly status: 'found'; readonly files: readonly FoundFile[]; readonly incomplete?: string | undefined }
  | { readonly status: 'invalid'; readonly message: string }
  | { readonly status: 'timed-out' }

type PathAnswer =
  | { readonly status: 'found'; readonly paths: readonly string[]; readonly incomplete?: string | undefined }
  | { readonly status: 'timed-out' }

export interface SearchEngine {
  readonly name: 'ripgrep' | 'scan'
  findText(tree: Tree, query: TextQuery): Promise<TextAnswer>
  listPaths(tree: Tree): Promise<PathAnswer>
}

/** Never searched, at any depth. */
const EXCLUDED = ['.git', '.codex', '.tmp', '**/.svc/cache', '**/.svc/worktrees', 'target', 'node_modules', 'dist']
/** Matching lines after which a search ends early, lines kept of one file, and files listed at most. */
export const MAX_MATCHES = 10_000
export const MAX_LINES_PER_FILE = 2000
export const MAX_PATHS = 200_000

/** Globs of what is left out. Excluding wins over including. */
export function excludedGlobs(tree: Tree): readonly string[] {
  return [...tree.exclude, ...EXCLUDED, ...(tree.includeHidden ? [] : ['.*'])]
}

/** A pattern list of the model in one form: `!` in front turns an inclusion into an exclusion. */
export function splitGlobs(include: readonly string[], exclude: readonly string[]): { include: string[]; exclude: string[] } {
  return {
    include: include.filter((glob) => !glob.startsWith('!')),
    exclude: [...include.filter((glob) => glob.startsWith('!')), ...exclude].map((glob) => glob.replace(/^!/, '')),
  }
}
