import { relative } from 'node:path';
import ts from 'typescript';

type Body = ts.FunctionLikeDeclaration;

/**
 * The path of a handler's command through the files of src, in the order of the code. Every call that passes the
 * command or a derived value leads into the file of the called function, once per function. A method of an interface
 * leads into its class where src has exactly one.
 */
export class Way {
  private readonly checker: ts.TypeChecker;
  private readonly implementers = new Map<ts.Symbol, ts.ClassDeclaration[]>();
  private readonly entered = new Set<ts.Node>();
  /** Files in the order in which they are entered, without immediate repeats. */
  readonly stays: string[] = [];

  constructor(
    private readonly program: ts.Program,
    private readonly root: string,
  ) {
    this.checker = program.getTypeChecker();
    for (const file of program.getSourceFiles().filter((each) => this.isOurs(each))) {
      ts.forEachChild(file, (node) => {
        if (ts.isClassDeclaration(node)) this.noteInterfaces(node);
      });
    }
  }

  /** Counts the files that are entered again. */
  static returns(stays: readonly string[]): number {
    return stays.length - new Set(stays).size;
  }

  /** Follows the first parameter of `execute` of the class. */
  follow(className: string): this {
    for (const file of this.program.getSourceFiles().filter((each) => this.isOurs(each))) {
      ts.forEachChild(file, (node) => {
        if (!ts.isClassDeclaration(node) || node.name?.text !== className) return;
        const execute = node.members.find(
          (member): member is ts.MethodDeclaration =>
            ts.isMethodDeclaration(member) && member.name.getText() === 'execute',
        );
        if (execute !== undefined) this.enter(execute, new Set([0]));
      });
    }
    return this;
  }

  private isOurs(file: ts.SourceFile): boolean {
    const path = relative(this.root, file.fileName);
    return path.startsWith('src/') && !path.endsWith('.spec.ts');
  }

  private noteInterfaces(node: ts.ClassDeclaration): void {
    for (const { types } of node.heritageClauses ?? []) {
      for (const { expression } of types) {
        const symbol = this.resolved(this.checker.getSymbolAtLocation(expression));
        if (symbol !== undefined)
          this.implementers.set(symbol, [...(this.implementers.get(symbol) ?? []), node]);
      }
    }
  }

  private resolved(symbol: ts.Symbol | undefined): ts.Symbol | undefined {
    return symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0
      ? this.checker.getAliasedSymbol(symbol)
      : symbol;
  }

  private enter(body: Body, carried: ReadonlySet<number>): void {
    const file = body.getSourceFile();
    if (body.body === undefined || !this.isOurs(file) || this.entered.has(body)) return;
    this.entered.add(body);
    const path = relative(this.root, file.fileName);
    if (this.stays.at(-1) !== path) this.stays.push(path);
    const mine = new Set<ts.Symbol>();
    body.parameters.forEach((parameter, n) => {
      if (carried.has(n)) this.bind(parameter.name, mine);
    });
    this.visit(body.body, mine);
  }

  /** In source order: the arguments of a call first, then the called function. */
  private visit(node: ts.Node, mine: Set<ts.Symbol>): void {
    ts.forEachChild(node, (child) => {
      this.visit(child, mine);
    });
    if (ts.isVariableDeclaration(node) && node.initializer && this.carries(node.initializer, mine)) {
      this.bind(node.name, mine);
    }
    if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
    const carried = new Set(
      (node.arguments ?? []).flatMap((each, n) => (this.carries(each, mine) ? [n] : [])),
    );
    if (carried.size === 0) return;
    const called = this.checker.getResolvedSignature(node)?.declaration;
    const body = called === undefined ? undefined : this.bodyOf(called);
    if (body !== undefined) this.enter(body, carried);
  }

  private bodyOf(called: ts.SignatureDeclaration | ts.JSDocSignature): Body | undefined {
    if (!ts.isMethodSignature(called)) return ts.isFunctionLike(called) ? (called as Body) : undefined;
    const port = this.checker.getSymbolAtLocation((called.parent as ts.InterfaceDeclaration).name);
    const classes = port === undefined ? [] : (this.implementers.get(port) ?? []);
    if (classes.length !== 1) return undefined;
    return classes[0]?.members.find(
      (member): member is ts.MethodDeclaration =>
        ts.isMethodDeclaration(member) && member.name.getText() === called.name.getText(),
    );
  }

  private carries(node: ts.Node, mine: ReadonlySet<ts.Symbol>): boolean {
    if (ts.isIdentifier(node)) {
      const symbol = ts.isShorthandPropertyAssignment(node.parent)
        ? this.checker.getShorthandAssignmentValueSymbol(node.parent)
        : this.checker.getSymbolAtLocation(node);
      return symbol !== undefined && mine.has(symbol);
    }
    return ts.forEachChild(node, (child) => this.carries(child, mine) || undefined) ?? false;
  }

  private bind(name: ts.BindingName, mine: Set<ts.Symbol>): void {
    if (!ts.isIdentifier(name)) {
      for (const element of name.elements) if (ts.isBindingElement(element)) this.bind(element.name, mine);
      return;
    }
    const symbol = this.checker.getSymbolAtLocation(name);
    if (symbol !== undefined) mine.add(symbol);
  }
}

/** The program of the repository as tsc compiles it, without packages. */
export function programOf(root: string, files?: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const ours = files ?? fileNames.filter((path) => path.includes('/src/'));
  return ts.createProgram(ours, { ...options, noResolve: true, types: [] });
}
