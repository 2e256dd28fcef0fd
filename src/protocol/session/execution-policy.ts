/** How agents work for hosted callers (subsystems d.9). */
import * as z from 'zod'

export const ExecutionPolicy = z.enum(['sandbox', 'native', 'disabled']).meta({ id: 'ExecutionPolicy' })
export type ExecutionPolicy = z.infer<typeof ExecutionPolicy>

/** Why nothing is executed for whoever asks. */
export const EXECUTION_OFF = 'Execution is off for hosted callers on this server.'
