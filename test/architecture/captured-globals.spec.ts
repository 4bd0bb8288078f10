import { ESLint } from 'eslint';
import { expect, it } from '@jest/globals';

/** A file that the rule covers; its text is replaced by the planted one. */
const SUPPORT = 'test/support/eventually.ts';

async function broken(text: string, filePath = SUPPORT): Promise<readonly (string | null)[]> {
  const [result] = await new ESLint().lintText(text, { filePath });
  return result!.messages.map(({ ruleId }) => ruleId).filter((each) => each === 'no-restricted-imports');
}

it.each(['describe', 'it', 'test', 'expect'])('a module of test/support may not import %s', async (name) => {
  const text = `import { ${name} } from '@jest/globals';\nexport const captured = ${name};\n`;
  expect(await broken(text)).toEqual(['no-restricted-imports']);
  expect(await broken(text, 'test/e2e/audit/ledger.e2e.ts')).toEqual([]);
});

it('a module of test/support may register hooks such as afterAll for the suite that calls it', async () => {
  const text = `import { afterAll } from '@jest/globals';\nexport const end = (): void => afterAll(() => {});\n`;
  expect(await broken(text)).toEqual([]);
});
