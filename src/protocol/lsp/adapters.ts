/** The registry of language servers (subsystems e.1): programs, the files they are for, and what marks a project of theirs. */
import type { LspCapability } from './lsp.js'

export interface LspAdapter {
  readonly id: string
  /** Program and arguments; none when it is reached at `endpoint`. */
  readonly command: readonly string[]
  /** `host:port` of a server that runs already. */
  readonly endpoint?: string
  /** The only language of its files; undefined = there are several. */
  readonly language?: string
  /** Lower case, without a dot. */
  readonly extensions: readonly string[]
  /** Names of files, `*` for any text. */
  readonly names: readonly string[]
  /** Names that make a directory a project; one that begins with a dot and holds no other may end a name (`.sln`). */
  readonly markers: readonly string[]
  readonly without: readonly LspCapability[]
  /** Languages of documents, where `language` does not say: by name, by pattern, by extension. */
  readonly documents: Documents
  /** How the directory of a project is found: the nearest one with a marker, or what cargo says of that. */
  readonly rootStrategy: LspRootStrategy
}

type LspRootStrategy = 'nearestMarker' | 'cargoMetadata'
export type Documents = Readonly<Record<string, string>>

/** Languages of documents by adapter, where they are not the only one of it. */
const DOCUMENTS: Readonly<Record<string, Documents>> = {
  typescript: {
    ts: 'typescript',
    mts: 'typescript',
    cts: 'typescript',
    tsx: 'typescriptreact',
    js: 'javascript',
    mjs: 'javascript',
    cjs: 'javascript',
    jsx: 'javascriptreact',
  },
  go: { 'go.mod': 'gomod', 'go.work': 'gowork', go: 'go', gotmpl: 'gotmpl' },
  c_cpp: { c: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', h: 'cpp', hpp: 'cpp', hh: 'cpp', hxx: 'cpp' },
  json: { json: 'json', jsonc: 'jsonc' },
  docker: { 'compose*': 'dockercompose', 'docker-compose*': 'dockercompose', 'docker-bake*': 'dockerbake', '*': 'dockerfile' },
  css: { css: 'css', scss: 'scss', less: 'less' },
  elixir: { ex: 'elixir', exs: 'elixir', eex: 'eelixir', leex: 'eelixir', heex: 'heex', surface: 'surface' },
}

type Traits = Partial<Pick<LspAdapter, 'endpoint' | 'language' | 'names' | 'without' | 'rootStrategy'>>

const words = (text: string) => text.split(' ').filter((word) => word !== '')

function adapter(id: string, command: string, extensions: string, markers: string, traits: Traits = {}): LspAdapter {
  return {
    id,
    command: words(command),
    extensions: words(extensions),
    markers: words(markers),
    names: [],
    without: [],
    documents: DOCUMENTS[id] ?? {},
    rootStrategy: 'nearestMarker',
    ...traits,
  }
}

const one = (language: string, traits: Traits = {}): Traits => ({ language, ...traits })

const WITHOUT_REFERENCES = ['workspace_symbols', 'references', 'implementation', 'call_hierarchy'] as const
const DATA = { without: [...WITHOUT_REFERENCES, 'rename'] } as const
const DOCKER = words(
  'Dockerfile* *.Dockerfile Containerfile* compose*.yml compose*.yaml docker-compose*.yml docker-compose*.yaml docker-bake.hcl docker-bake.json docker-bake.override.hcl docker-bake.override.json',
)
const GRADLE = 'pom.xml build.gradle build.gradle.kts settings.gradle'

export const LSP_ADAPTERS: readonly LspAdapter[] = [
  adapter('rust', 'rust-analyzer', 'rs', 'Cargo.toml rust-project.json', one('rust', { rootStrategy: 'cargoMetadata' })),
  adapter('typescript', 'typescript-language-server --stdio', 'ts mts cts tsx js mjs cjs jsx', 'tsconfig.json jsconfig.json package.json'),
  adapter(
    'python',
    'pyright-langserver --stdio',
    'py pyi',
    'pyproject.toml requirements.txt setup.py setup.cfg pyrightconfig.json poetry.lock Pipfile',
    one('python'),
  ),
  adapter('go', 'gopls', 'go gotmpl', 'go.mod go.work', { names: ['go.mod', 'go.work'] }),
  adapter('c_cpp', 'clangd', 'c cc cpp cxx h hpp hh hxx', 'compile_commands.json CMakeLists.txt'),
  adapter('java', 'jdtls', 'java', GRADLE, one('java')),
  adapter(
    'csharp',
    'omnisharp -z DotNet:enablePackageRestore=false --encoding utf-8 --languageserver',
    'cs csx',
    'global.json .sln .csproj',
    one('csharp'),
  ),
  adapter('ruby', 'solargraph stdio', 'rb', 'Gemfile .ruby-version', one('ruby')),
  adapter('lua', 'lua-language-server', 'lua', '.luarc.json .luarc.jsonc', one('lua')),
  adapter(
    'bash',
    'bash-language-server start',
    'sh bash zsh ksh csh',
    '',
    one('shellscript', { without: ['implementation', 'call_hierarchy'] }),
  ),
  adapter('json', 'vscode-json-language-server --stdio', 'json jsonc', '', DATA),
  adapter('docker', 'docker-language-server start --stdio', '', DOCKER.join(' '), { names: DOCKER }),
  adapter('yaml', 'yaml-language-server --stdio', 'yaml yml', '', one('yaml', DATA)),
  adapter('toml', 'taplo lsp stdio', 'toml', '', one('toml', DATA)),
  adapter('html', 'vscode-html-language-server --stdio', 'html htm', 'package.json', one('html', { without: WITHOUT_REFERENCES })),
  adapter('css', 'vscode-css-language-server --stdio', 'css scss less', 'package.json', { without: WITHOUT_REFERENCES }),
  adapter('php', 'intelephense --stdio', 'php', 'composer.json', one('php')),
  adapter('zig', 'zls', 'zig zon zir', 'build.zig', one('zig')),
  adapter('elixir', 'elixir-ls', 'ex exs eex leex heex surface', 'mix.exs'),
  adapter('haskell', 'haskell-language-server-wrapper --lsp', 'hs lhs', 'stack.yaml cabal.project', one('haskell')),
  adapter('scala', 'metals', 'scala sbt sc', 'build.sbt build.sc build.gradle pom.xml', one('scala')),
  adapter('kotlin', 'kotlin-language-server', 'kt kts', GRADLE, one('kotlin')),
  adapter('svelte', 'svelteserver --stdio', 'svelte', 'package.json svelte.config.js', one('svelte')),
  adapter('vue', 'vue-language-server --stdio', 'vue', 'package.json vue.config.js', one('vue')),
  adapter('nix', 'nil', 'nix', 'flake.nix shell.nix default.nix', one('nix')),
  adapter('godot', '', 'gd', 'project.godot', one('gdscript', { endpoint: '127.0.0.1:6005' })),
]

/** Whether the name of a file is one of `pattern`, in which `*` stands for any text. */
export function isNamed(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.at(-1)
  if (tail === undefined) return name === pattern
  return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail)
}

/** Markers that may end a name. */
export const WIDE_MARKERS: ReadonlySet<string> = new Set(['.sln', '.csproj'])

/** Whether a pattern or marker stands for more than the name it is. */
export function isWide(pattern: string): boolean {
  return pattern.includes('*') || WIDE_MARKERS.has(pattern)
}

/** Whether a name marks a project. */
export function isMarker(marker: string, name: string): boolean {
  return WIDE_MARKERS.has(marker) ? name.endsWith(marker) : isNamed(marker, name)
}

const extensionOf = (name: string) => (name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '')

/** What a document of an adapter is written in, as its server is told. */
export function documentLanguage({ id, language, documents }: Pick<LspAdapter, 'id' | 'language' | 'documents'>, name: string): string {
  if (language !== undefined) return language
  const pattern = Object.keys(documents).find((each) => (each.includes('*') ? isNamed(each, name) : each === name))
  return (pattern === undefined ? documents[extensionOf(name)] : documents[pattern]) ?? id
}

/** How well a file fits an adapter: its name, a pattern, its extension; 0 = not at all. Whole hundreds are tiers. */
export function matchScore({ names, extensions }: Pick<LspAdapter, 'names' | 'extensions'>, name: string): number {
  const fitting = names.filter((pattern) => isNamed(pattern, name))
  const longest = (of: readonly string[]) => Math.min(99, Math.max(...of.map(({ length }) => length)))
  const exact = fitting.filter((pattern) => !pattern.includes('*'))
  if (exact.length > 0) return 300 + longest(exact)
  if (fitting.length > 0) return 200 + longest(fitting)
  return extensions.includes(extensionOf(name)) ? 100 : 0
}
