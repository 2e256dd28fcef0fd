/** Turns a parsed expression into the instructions of a machine with many states at once. */
import type { CharTest } from './characters.js'
import { invalid } from './reader.js'
import type { Assertion, Node } from './syntax.js'

export type Instruction =
  | { readonly op: 'char'; readonly test: CharTest; readonly next: number }
  | { readonly op: 'assert'; readonly kind: Assertion; readonly next: number }
  | { readonly op: 'split'; readonly next: readonly number[] }
  | { readonly op: 'match' }

export interface Program {
  readonly instructions: readonly Instruction[]
  readonly start: number
}

/** Bounds what one step of the machine costs. */
const MAX_INSTRUCTIONS = 1000

/** Throws `ToolError` when the expression grows too large, as by nested counts. */
export function compileProgram(root: Node): Program {
  const instructions: Instruction[] = [{ op: 'match' }]

  const emit = (instruction: Instruction): number => {
    if (instructions.length >= MAX_INSTRUCTIONS) throw invalid('it is too large')
    return instructions.push(instruction) - 1
  }

  /** Emits `node` so that it goes on at `next`; answers where it begins. */
  const compile = (node: Node, next: number): number => {
    switch (node.type) {
      case 'char':
        return emit({ op: 'char', test: node.test, next })
      case 'assert':
        return emit({ op: 'assert', kind: node.kind, next })
      case 'sequence':
        return node.items.reduceRight((then, item) => compile(item, then), next)
      case 'choice':
        return emit({ op: 'split', next: node.items.map((item) => compile(item, next)) })
      case 'repeat':
        return compileRepeat(node, next)
    }
  }

  const compileRepeat = ({ item, min, max }: Extract<Node, { type: 'repeat' }>, next: number): number => {
    let begin = next
    if (max === Infinity) begin = compileLoop(item, next)
    else for (let optional = min; optional < max; optional++) begin = emit({ op: 'split', next: [compile(item, begin), next] })
    for (let needed = 0; needed < min; needed++) begin = compile(item, begin)
    return begin
  }

  const compileLoop = (item: Node, next: number): number => {
    const targets = [next]
    const loop = emit({ op: 'split', next: targets })
    targets.push(compile(item, loop))
    return loop
  }

  return { start: compile(root, 0), instructions }
}
