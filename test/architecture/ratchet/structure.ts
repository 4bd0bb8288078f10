import { posix } from 'node:path';
import ts from 'typescript';
import { isProgram, isTest, type Source } from './sources.js';

/** `src/contexts/x`, `src/platform/x`, `src/kernel`, `src`, any other top folder, or all specs of src. */
export function folderOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  if (folders.length === 0) return 'the root';
  if (folders[0] !== 'src') return folders[0] ?? '';
  return /\.spec\.tsx?$/.test(path)
    ? 'specs in src'
    : folders.slice(0, folders[1] === 'kernel' ? 2 : 3).join('/');
}

/** Counts lines and files of each folder, of code only. */
export function sizes(files: readonly Source[]): Record<string, number> {
  const figures: Record<string, number> = {};
  const add = (figure: string, count: number): void => {
    figures[figure] = (figures[figure] ?? 0) + count;
  };
  for (const { path, text } of files.filter((each) => /\.(tsx?|mjs)$/.test(each.path))) {
    const folders = [folderOf(path), isProgram(path) ? 'src without specs' : isTest(path) ? 'tests' : null];
    for (const folder of folders) {
      if (folder === null) continue;
      add(`lines of ${folder}`, text.split('\n').length - 1);
      add(`files of ${folder}`, 1);
    }
  }
  return figures;
}

/** Mechanisms with one owner, each by a predicate of its text. */
const OWNED: Readonly<Record<string, (text: string) => boolean>> = {
  'files that claim work with "skip locked"': (text) => /skip locked/i.test(text),
  'files that race with a timer': (text) => /Promise\.race\([^;]*(?:late|timer|setTimeout)/i.test(text),
  'files that page through readAll': pagesThroughLog,
};

export function ownership(files: readonly Source[]): Record<string, number> {
  const program = files.filter(({ path }) => isProgram(path));
  return Object.fromEntries(
    Object.entries(OWNED).map(([figure, contains]) => [
      figure,
      program.filter(({ text }) => contains(withoutComments(text))).length,
    ]),
  );
}

/** Returns whether a loop calls `readAll` for more than one event, except on EventStoreDB's client. */
function pagesThroughLog(text: string): boolean {
  const visit = (node: ts.Node, inLoop: boolean): boolean => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      const isLog = name.text === 'readAll' && !/client$/.test(expression.getText());
      if (inLoop && isLog && node.arguments[1]?.getText() !== '1') return true;
    }
    const within = inLoop || ts.isIterationStatement(node, false);
    return ts.forEachChild(node, (child) => visit(child, within) || undefined) ?? false;
  };
  return visit(ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true), false);
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

/** Returns exported names that several files of the program declare, each with its files. */
export function sharedNames(files: readonly Source[]): Map<string, string[]> {
  const owners = new Map<string, string[]>();
  for (const { path, text } of files.filter((each) => isProgram(each.path))) {
    for (const name of exportedNames(path, text)) owners.set(name, [...(owners.get(name) ?? []), path]);
  }
  return new Map([...owners].filter(([, paths]) => paths.length > 1));
}

function exportedNames(path: string, text: string): Set<string> {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return new Set(
    source.statements.flatMap((statement) => {
      const isExported =
        ts.canHaveModifiers(statement) &&
        (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
      if (!isExported) return [];
      if (ts.isVariableStatement(statement)) {
        return statement.declarationList.declarations.flatMap(({ name }) =>
          ts.isIdentifier(name) ? [name.text] : [],
        );
      }
      const { name } = statement as unknown as { name?: ts.Identifier };
      return name === undefined ? [] : [name.text];
    }),
  );
}

/** Returns exported names of the program that no other file imports, not even a test. */
export function privateExports(files: readonly Source[]): string[] {
  const code = files.filter(({ path }) => /\.(tsx?|mjs)$/.test(path));
  const imported = new Set(code.flatMap(({ path, text }) => importedNames(path, text)));
  return code.flatMap(({ path, text }) => {
    if (!isProgram(path) || imported.has(`${path} *`)) return [];
    return [...exportedNames(path, text)]
      .map((name) => `${path} ${name}`)
      .filter((each) => !imported.has(each));
  });
}

/** Returns `path name`, or `path *` where a namespace or a dynamic import may use every name. */
function importedNames(path: string, text: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
      node.moduleSpecifier !== undefined
    ) {
      const from = fileOf(path, (node.moduleSpecifier as ts.StringLiteral).text);
      const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
      if (named !== undefined && 'elements' in named) {
        for (const { name, propertyName } of named.elements)
          names.push(`${from} ${(propertyName ?? name).text}`);
      } else names.push(`${from} *`);
    }
    const [only] = ts.isCallExpression(node) ? node.arguments : [];
    const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    if (isDynamic && only !== undefined && ts.isStringLiteral(only))
      names.push(`${fileOf(path, only.text)} *`);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      names.push(`${fileOf(path, (node.argument.literal as ts.StringLiteral).text)} *`);
    }
    if (ts.isModuleDeclaration(node) && ts.isStringLiteral(node.name)) {
      const from = fileOf(path, node.name.text);
      ts.forEachChild(node.body!, (child) => {
        if (ts.isInterfaceDeclaration(child)) names.push(`${from} ${child.name.text}`);
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return names;
}

/** Finds the source file of an import. Programs outside of the build import from dist. */
const fileOf = (path: string, specifier: string): string =>
  posix
    .join(posix.dirname(path), specifier)
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts');
