/** What the page shows, and what it shows it with. */
import type { InspectedPlugin, InspectorRecord } from '../../protocol/system/inspector.js'
import type { chartView } from './chart/chart-view.js'
import type { Model } from './model.js'
import type { Move } from './plugin-moves.js'
import type { pluginPage } from './plugin-page.js'
import type { logView } from './views/log-view.js'
import type { PlaceTable } from './views/place-table.js'
import type { pluginList } from './views/plugin-list.js'
import type { sequenceView } from './views/sequence-view.js'
import type { treeView } from './views/tree-view.js'

export interface Commands {
  model(): Model
  pause(isPaused: boolean): void
  step(by: number): void
  /** To the step of a played history before or after this one. */
  mark(by: 1 | -1): void
  go(position: number): void
  /** Back to the present; to the end of a trace. */
  present(): void
  save(): void
  load(text: string): void
  workflows(directory: string): Promise<HTMLElement[]>
  /** What waits for an answer, anywhere. */
  requests(): Promise<HTMLElement[]>
  /** Answers that are remembered for a workspace, and what would be decided of a command there. */
  remembered(directory: string): Promise<HTMLElement[]>
  explain(directory: string, command: string): Promise<HTMLElement[]>
  /** Programs that load code of a workspace. */
  programs(directory: string): Promise<HTMLElement[]>
  /** The latest sessions as buttons, and what is told of the chosen one. */
  sessions(chosen: string | undefined, show: (id: string) => void): Promise<ShownSessions>
  /** Does something to a plugin; absent where there is no server. */
  actOnPlugin(): ((plugin: InspectedPlugin, act: NonNullable<Move['act']>) => void) | undefined
  /** Something is looked at that the server has to be asked for. */
  wanted(): void
  /** What is looked at has changed: the fragment of an address that leads here. */
  moved(fragment: string): void
  /** Time of the picture, Unix ms. */
  now(): number
}

interface ShownSessions {
  readonly list: HTMLElement[]
  readonly head: HTMLElement[]
  readonly turns: HTMLElement[]
}

export type Tab = 'actors' | 'plugins' | 'workflows' | 'sessions' | 'programs' | 'requests'

export const TABS: readonly Tab[] = ['actors', 'plugins', 'workflows', 'sessions', 'programs', 'requests']
export const TYPES = ['event', 'transition', 'start', 'stop'] as const

export interface Fields {
  readonly filter: HTMLInputElement
  readonly logFilter: HTMLInputElement
  readonly position: HTMLInputElement
  readonly file: HTMLInputElement
  readonly only: HTMLInputElement
  readonly failures: HTMLInputElement
  readonly pause: HTMLElement
}

export interface Views {
  readonly tree: ReturnType<typeof treeView>
  readonly chart: ReturnType<typeof chartView>
  readonly log: ReturnType<typeof logView>
  readonly sequence: ReturnType<typeof sequenceView>
  readonly plugins: ReturnType<typeof pluginList>
  readonly page: ReturnType<typeof pluginPage>
  readonly tables: Partial<Record<Tab, readonly PlaceTable[]>>
}

export interface Showing {
  readonly commands: Commands
  /** Asks for a drawing. */
  readonly draw: () => void
  readonly fields: Fields
  readonly views: Views
  readonly lanes: Set<string>
  selected: string | undefined
  shown: Tab
  lit: readonly InspectorRecord[]
  plugin: string | undefined
  session: string | undefined
  /** The record that is chosen, and the one whose pane is open. */
  chosen: number | undefined
  record: number | undefined
  drawnRecord: string
  fragment: string
}
