import { existsSync, readFileSync } from 'node:fs';

interface Schema {
  readonly $ref?: string;
}
interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Omit<Operation, 'id' | 'method' | 'path'>>>>
  >;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: Body } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

const SITE = 'docs/.vitepress/dist';

/** The OpenAPI document of the reference pages. */
export const readDocument = (): Document =>
  JSON.parse(readFileSync('dist/openapi/sandbox.json', 'utf8')) as Document;

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({
      ...each,
      id: each.operationId,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** Returns true for operations of merchants, which the clients have. */
export const isOfMerchants = ({ path }: Operation): boolean => /^\/(merchants\/)?v1\//.test(path);

/** Reads a page of the built site in Markdown, such as `reference/createUser`. Throws if it is missing. */
export function pageOf(name: string): string {
  const file = `${SITE}/${name}.md`;
  if (!existsSync(file)) throw new Error(`${file} is missing: npm run docs`);
  return readFileSync(file, 'utf8');
}

/** Returns the text of a section without its heading. Throws if the section is missing. */
export function sectionOf(markdown: string, heading: string): string {
  const [, section] = markdown.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`no section ${heading}`);
  return section.split(/\n## /)[0]!;
}

export function blocksOf(markdown: string): { readonly language: string; readonly code: string }[] {
  return [...markdown.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)\n```$/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
}

export const blockOf = (markdown: string, language: string): string | null =>
  blocksOf(markdown).find((each) => each.language === language)?.code ?? null;

/** Splits an HTTP message into head lines and JSON. The body is null if empty. */
export function messageOf(block: string): { readonly head: readonly string[]; readonly body: unknown } {
  const [head, body] = block.split('\n\n');
  return { head: head!.split('\n'), body: body === undefined ? null : (JSON.parse(body) as unknown) };
}
