import { resolve } from 'node:path';
import ts from 'typescript';
import type { Mutant } from './draw.js';

/** Selects the mutants that compile. The gate notices the others before any test runs. */
export function compilerOf(): (mutants: readonly Mutant[]) => Mutant[] {
  const service = new Checker('tsconfig.json');
  const pages = new Checker('widgets/tsconfig.json');
  return (mutants) => {
    // One program checks one mutant of each file at once.
    let waiting = mutants;
    const failing = new Set<Mutant>();
    while (waiting.length > 0) {
      const batch = [...new Map(waiting.map((mutant) => [mutant.file, mutant])).values()];
      waiting = waiting.filter((mutant) => !batch.includes(mutant));
      const ofPages = batch.filter(({ file }) => file.startsWith('widgets/'));
      for (const mutant of service.failing(batch.filter((each) => !ofPages.includes(each))))
        failing.add(mutant);
      for (const mutant of pages.failing(ofPages)) failing.add(mutant);
    }
    return mutants.filter((mutant) => !failing.has(mutant));
  };
}

class Checker {
  private readonly changed = new Map<string, string>();
  private readonly files = new Map<string, ts.SourceFile | undefined>();
  private program: ts.Program | undefined;

  constructor(private readonly config: string) {}

  failing(mutants: readonly Mutant[]): Mutant[] {
    if (mutants.length === 0) return [];
    this.changed.clear();
    for (const { file, text } of mutants) this.changed.set(resolve(file), text);
    const { fileNames, options } = this.settings();
    const host = ts.createCompilerHost(options);
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, version) => {
      const text = this.changed.get(resolve(name));
      if (text !== undefined) return ts.createSourceFile(name, text, version, true);
      if (!this.files.has(name)) this.files.set(name, read(name, version));
      return this.files.get(name);
    };
    const program = ts.createProgram(fileNames, options, host, this.program);
    this.program = program;
    return mutants.filter(({ file }) => {
      const source = program.getSourceFile(resolve(file));
      return (
        program.getSyntacticDiagnostics(source).length > 0 ||
        program.getSemanticDiagnostics(source).length > 0
      );
    });
  }

  private settings(): { readonly fileNames: string[]; readonly options: ts.CompilerOptions } {
    const { config } = ts.readConfigFile(this.config, (name) => ts.sys.readFile(name));
    const parsed = ts.parseJsonConfigFileContent(config, ts.sys, resolve(this.config, '..'));
    const fileNames = parsed.fileNames.filter((name) => !/\/(test|bench)\/|\.spec\.ts$/.test(name));
    // The linter checks unused names.
    const unused = { noUnusedLocals: false, noUnusedParameters: false };
    return { fileNames, options: { ...parsed.options, ...unused, noEmit: true, incremental: false } };
  }
}
