/** Histories that lead machines to where drawn ones seldom do. */
import type { History } from '../history.js'
import { COMPACTIONS } from './compactions.js'
import { CONVERSATIONS } from './conversations.js'
import { GOALS } from './goals.js'
import { HISTORIES } from './histories.js'
import { LODGER } from './lodger.js'
import { OUTSIDE } from './outside.js'
import { PLUGINS } from './plugins.js'
import { TASKS } from './tasks.js'
import { WORKFLOWS } from './workflows.js'
import { WORKSPACES } from './workspaces.js'

export const TOURS: Readonly<Record<string, History>> = {
  ...COMPACTIONS,
  ...CONVERSATIONS,
  ...GOALS,
  ...HISTORIES,
  ...LODGER,
  ...OUTSIDE,
  ...PLUGINS,
  ...TASKS,
  ...WORKFLOWS,
  ...WORKSPACES,
}
