/** How one operation of a broker is described: what comes in, what goes out, what it refuses. Docs, the kit and the check of input come from it. */
import type * as z from 'zod'

interface BrokerOperation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** One sentence for authors. */
  readonly summary: string
  readonly input: Input
  readonly output: Output
  /**
   * It waits for somebody outside. It is begun in its place among the requests of the plugin, and lets the next ones pass while it waits:
   * its answer may come after theirs.
   */
  readonly waits?: true
  /** When it is refused, each the end of "It is refused when …". */
  readonly refusals: readonly string[]
}

export function describeOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: BrokerOperation<Input, Output>,
): BrokerOperation<Input, Output> {
  return operation
}

export type BrokerOperations = Readonly<Record<string, BrokerOperation>>
