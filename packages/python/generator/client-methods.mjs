import { readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * The methods of a client of packages/sdk that call an operation, as
 * `{ group, name, method, path, member, parameters }`. Both languages have the same groups. `group` is null for a
 * method of the client itself; `member` is that of a page with its items.
 */
export function clientMethods(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const client = source.statements.find(ts.isClassDeclaration);
  return client.members.flatMap((member) => {
    if (ts.isMethodDeclaration(member)) return methodOf(null, member);
    const groups = ts.isPropertyDeclaration(member) && member.initializer;
    if (!groups || !ts.isObjectLiteralExpression(groups)) return [];
    return groups.properties.flatMap((each) => methodOf(member.name.getText(), each));
  });
}

function methodOf(group, node) {
  const [call] = found(node, (each) => {
    const match = ts.isCallExpression(each) && /^this\.api\.([A-Z]+)$/.exec(each.expression.getText());
    return match ? { method: match[1], path: each.arguments[0].text } : null;
  });
  if (call === undefined) return [];
  const [member = null] = found(node, (each) =>
    ts.isNewExpression(each) && each.expression.getText() === 'Pages'
      ? each.arguments[1].body.getText()
      : null,
  );
  const { parameters } = node.initializer ?? node;
  const names = parameters.map((each) => each.name.getText());
  return [{ group, name: node.name.getText(), ...call, member, parameters: names }];
}

/** Returns the first result of a function over a node and its descendants, except null. */
function found(node, of) {
  const here = of(node);
  const below = [];
  ts.forEachChild(node, (child) => void below.push(...found(child, of)));
  return here === null ? below : [here, ...below];
}
