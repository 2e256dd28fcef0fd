/** Notes every script that is compiled from now on, by its file, to keep what V8 made of it. `vm` is the module of Node itself. */
export function noteScripts(vm) {
  const scripts = new Map()
  const { Script } = vm
  vm.Script = class extends Script {
    constructor(source, options) {
      super(source, options)
      scripts.set(options.filename, this)
    }
  }
  return scripts
}
