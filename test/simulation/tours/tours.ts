/** Histories that lead machines to where drawn ones seldom do. */
import type { History } from '../history.js'
import { COMPACTIONS } from './compactions.js'
import { CONVERSATIONS } from './conversations.js'

export const TOURS: Readonly<Record<string, History>> = { ...COMPACTIONS, ...CONVERSATIONS }
