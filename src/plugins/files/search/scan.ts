/**
 * The search engine that needs no program: walks the tree and looks at every line. Slower than ripgrep, with the same
 * answers. Patterns of a model cannot stall it (threat-model X2): they are matched in linear time, lines are looked at
 * up to a bound, and other work gets its turn between stretches of a large file.
 */
import { createPause, type Pause } from '../../../kernel/pause.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { ToolError } from '../../../ports/plugin.js'
import { collectFound } from './found-lines.js'
import { escapeRegex } from './globs.js'
import { joinPath } from '../../../protocol/text/paths.js'
import { pathRules } from './path-rules.js'
import { compileRegex, type Matcher } from './regex.js'
import { type FoundFile, MAX_MATCHES, MAX_PATHS, type SearchEngine, type TextQuery, type Tree } from './search.js'
import { createFinder } from '../text/text-search.js'
import { walk } from './walk.js'

/** Larger files are passed over and counted. */
const MAX_FILE = 16 * 1024 * 1024
/** Characters of a line a regular expression looks at. */
const MAX_LINE = 16 * 1024
/** Lines of at least this length are a stretch of work each. */
const LONG_LINE = 1024
/** Longest stretch of work without a pause. */
const STRETCH_MS = 25

type Host = Pick<NativeHost['effects'], 'files' | 'clock'>

/** `giveWay` is shared by all who scan: one goes on in a turn. */
export function scanEngine({ files, clock }: Host, giveWay: Pause = createPause()): SearchEngine {
  const createPace = (tree: Tree) => {
    const deadline = clock.monotonic() + tree.timeoutMs
    let paused = clock.monotonic()
    return {
      late: () => clock.monotonic() > deadline,
      due: () => clock.monotonic() - paused > STRETCH_MS,
      async pause() {
        tree.signal.throwIfAborted()
        await giveWay()
        paused = clock.monotonic()
      },
    }
  }

  return {
    name: 'scan',

    async findText(tree, query) {
      const matcher = compileQuery(query)
      if (typeof matcher === 'string') return { status: 'invalid', message: matcher }
      const pace = createPace(tree)
      const found: FoundFile[] = []
      let matches = 0
      let skipped = 0
      for await (const path of tree.file === undefined ? walk(files, tree, pathRules(tree)) : [tree.file]) {
        tree.signal.throwIfAborted()
        if (pace.late()) return { status: 'timed-out' }
        const lines = await readLines(files, joinPath(tree.root, path))
        if (lines === 'too-large') skipped++
        if (lines === undefined || lines === 'too-large') continue
        const collector = collectFound(path, query.context)
        for (const [index, line] of lines.entries()) {
          const looks = index % 64 === 0 || line.length >= LONG_LINE
          if (looks && pace.due()) await pace.pause()
          if (looks && pace.late()) return { status: 'timed-out' }
          if (index < lines.length - 1 || line !== '') collector.add(index + 1, line, matcher(line))
        }
        const file = collector.finish()
        if (file === undefined) continue
        found.push(file)
        matches += file.matches
        if (matches >= MAX_MATCHES) return { status: 'found', files: found, incomplete: `stopped after ${MAX_MATCHES} matching lines` }
      }
      const incomplete = skipped === 0 ? undefined : `${skipped} files over ${MAX_FILE} bytes were not searched`
      return { status: 'found', files: found, incomplete }
    },

    async listPaths(tree) {
      const pace = createPace(tree)
      const paths: string[] = []
      for await (const path of walk(files, tree, pathRules(tree))) {
        if (pace.late()) return { status: 'timed-out' }
        paths.push(path)
        if (paths.length === MAX_PATHS) return { status: 'found', paths, incomplete: `stopped after ${MAX_PATHS} files` }
      }
      return { status: 'found', paths }
    },
  }
}

/** A test for one line, or what is wrong with the patterns. */
function compileQuery(query: TextQuery): Matcher | string {
  if (query.syntax === 'plain' && query.caseSensitive) {
    const finders = query.patterns.map(createFinder)
    return (line) => finders.some((find) => find(line) !== -1)
  }
  const sources = query.syntax === 'plain' ? query.patterns.map(escapeRegex) : query.patterns
  const flags = { ignoreCase: !query.caseSensitive, dotAll: false }
  try {
    const matchers = sources.map((source) => compileRegex(source, flags))
    return (line) => {
      const seen = line.length > MAX_LINE ? line.slice(0, MAX_LINE) : line
      return matchers.some((matches) => matches(seen))
    }
  } catch (error) {
    if (error instanceof ToolError) return error.message
    throw error
  }
}

/** Undefined for what cannot be read or is binary, and for what has become a link since the walk. */
async function readLines(files: Host['files'], path: string): Promise<string[] | 'too-large' | undefined> {
  const stat = await files.stat(path).catch(() => undefined)
  if (stat === undefined || stat.kind !== 'file') return undefined
  if (stat.size > MAX_FILE) return 'too-large'
  const content = await files.read(path, MAX_FILE, { canonical: true }).catch(() => undefined)
  if (content === undefined || content.includes(0)) return undefined
  return new TextDecoder().decode(content).replaceAll('\r\n', '\n').split('\n')
}
