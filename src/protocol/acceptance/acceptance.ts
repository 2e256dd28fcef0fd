/** What a program that loads code of a workspace waits for, and what somebody has accepted (choice 34). */
import * as z from 'zod'
import { ms } from '../shared.js'

export type ProgramKind = 'language-server' | 'formatter' | 'mcp-server' | 'external-agent'

/** How a program stands in a workspace. */
export const ProgramStanding = z
  .looseObject({
    /**
     * `confined`: it runs in the sandbox. `named`: the configuration of the installation names it. `accepted`: somebody accepted this content.
     * `waiting`: it does not start until somebody does. `unavailable`: the sandbox is switched on and cannot be had.
     */
    state: z.enum(['confined', 'named', 'accepted', 'waiting', 'unavailable']),
    /** Of what would be accepted; changes with it. */
    revision: z.string(),
    /** Every line that would start, word by word; for a server that is reached by the network, its address. */
    commands: z.array(z.array(z.string())),
    /** What else is accepted with them, a line each: what a workspace says of a server it brings, without what is named like a secret. */
    also: z.array(z.string()),
    /** What is missing, for people; null when it may start. */
    message: z.string().nullable(),
  })
  .meta({ id: 'ProgramStanding' })
export type ProgramStanding = z.infer<typeof ProgramStanding>

/** Who may accept and take back: the inspector has buttons for both. */
export const ACT = { access: { class: 'directory', local: true }, isForOwnPage: true } as const

/** An act that is remembered. */
export const ProgramAcceptance = z
  .looseObject({
    name: z.string(),
    /** Canonical. */
    directory: z.string(),
    revision: z.string(),
    commands: z.array(z.array(z.string())),
    acceptedAt: ms,
  })
  .meta({ id: 'ProgramAcceptance' })
export type ProgramAcceptance = z.infer<typeof ProgramAcceptance>

/** `revision`: what was seen when it was decided; without it, what is there now. */
export const AcceptRequest = z.strictObject({ revision: z.string().min(1).max(100).optional() })
export const AcceptanceRemoved = z.strictObject({ removed: z.boolean() })
