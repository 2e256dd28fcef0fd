/**
 * No text becomes code in the thread of the script (threat-model L1): whoever reached the engine through a mistake of the VM finds neither
 * `eval` nor a constructor of functions. The flag of V8 for it is compared with the code that Node has compiled of itself, and costs each
 * thread twice its start.
 */
export function sealCode(): void {
  const sealed = { value: refuse, writable: false, configurable: false }
  // oxlint-disable-next-line eslint/func-style -- each kind has a constructor of its own
  const kinds = [() => {}, function* () {}, async () => {}, async function* () {}]
  for (const kind of kinds) Object.defineProperty(Object.getPrototypeOf(kind), 'constructor', sealed)
  for (const name of ['Function', 'eval']) Object.defineProperty(globalThis, name, sealed)
}

function refuse(): never {
  throw new EvalError('No text becomes code in this thread.')
}
