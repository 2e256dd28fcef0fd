/** Agents of others by name, and what is chosen of one (subsystems l.1, l.2). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'

export const ExternalProvider = z.enum(['opencode', 'claude', 'codex'])
export type ExternalProvider = z.infer<typeof ExternalProvider>

const { options: MOST } = LIMITS.external
export const selectedOptions = z
  .record(z.string(), z.string())
  .refine((map) => Object.keys(map).length <= MOST, `must have at most ${MOST} entries`)

/** Under which id the models of sessions on external agents stand. */
export const EXTERNAL = 'external'
/** The plugin that has them. */
export const EXTERNAL_PLUGIN = 'dev.svc.external'
