import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ApiResponse } from './signed-client.js';

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
  readonly headers?: object;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>>
  >;
  readonly components: { readonly responses: Readonly<Record<string, Described>> };
}

/** Checkers by the text of the document, which most suites of a worker share. */
const checkers = new Map<string, ContractChecker>();

export class ContractChecker {
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: Document) {
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema({ ...(closed(document) as object), $id: 'contract' });
  }

  /** Creates the checker of a running service from its `/openapi.json`. */
  static async of(baseUrl: string): Promise<ContractChecker> {
    const text = await (await fetch(`${baseUrl}/openapi.json`)).text();
    const checker = checkers.get(text) ?? new ContractChecker(JSON.parse(text) as Document);
    checkers.set(text, checker);
    return checker;
  }

  /** Throws unless the document describes status, media type and body. `path` is called or a template. */
  expect(method: string, path: string, response: ApiResponse): void {
    const template = this.templateOf(path);
    const verb = method.toLowerCase();
    const described = this.document.paths[template]?.[verb]?.responses[String(response.status)];
    const where = `${method} ${template} ${response.status}`;
    if (described === undefined) throw new Error(`${where} is not in the OpenAPI document`);
    const pointer = `/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1')}/${verb}/responses/${response.status}`;
    const [schema, at] = this.resolve(described, pointer);
    this.expectBody(where, schema, at, response);
  }

  /** Throws unless the document has a webhook of its type, and the body matches. */
  expectWebhook(body: string): void {
    const sent = JSON.parse(body) as { readonly type: string };
    const schema = '/post/requestBody/content/application~1json/schema';
    const validate = this.validatorAt(`contract#/webhooks/${sent.type}${schema}`);
    if (!validate(sent))
      throw new Error(`${body} is not as described: ${this.ajv.errorsText(validate.errors)}`);
  }

  private expectBody(where: string, described: Described, pointer: string, response: ApiResponse): void {
    const type = response.headers['content-type']?.split(';')[0];
    if (described.content === undefined) {
      if (response.text !== '') throw new Error(`${where} has a body: ${response.text.slice(0, 200)}`);
      return;
    }
    if (type === undefined || described.content[type] === undefined) {
      throw new Error(`${where} is ${type ?? 'untyped'}, not ${Object.keys(described.content).join(' or ')}`);
    }
    const schema = described.content[type].schema;
    if (schema === undefined || type === 'text/plain') return;
    const at = `contract#${pointer}/content/${type.replaceAll('/', '~1')}/schema`;
    const validate = this.validatorAt(at);
    if (!validate(response.json())) {
      const errors = this.ajv.errorsText(validate.errors, { separator: '\n' });
      throw new Error(`${where} is not as described:\n${errors}\n${response.text.slice(0, 2000)}`);
    }
  }

  private resolve(described: object, pointer: string): [Described, string] {
    if (!('$ref' in described)) return [described, pointer];
    const name = String(described.$ref).split('/').at(-1) ?? '';
    return [this.document.components.responses[name] ?? {}, `/components/responses/${name}`];
  }

  private validatorAt(reference: string): ValidateFunction {
    let validate = this.validators.get(reference);
    if (validate === undefined) {
      validate = this.ajv.compile({ $ref: encodeURI(reference) });
      this.validators.set(reference, validate);
    }
    return validate;
  }

  describes(path: string): boolean {
    return this.findTemplate(path) !== undefined;
  }

  private templateOf(path: string): string {
    const found = this.findTemplate(path);
    if (found === undefined) throw new Error(`${path} is not in the OpenAPI document`);
    return found;
  }

  /** Literal paths precede templates, like in the router. */
  private findTemplate(path: string): string | undefined {
    const bare = path.split('?')[0] ?? path;
    if (this.document.paths[bare] !== undefined) return bare;
    return Object.keys(this.document.paths).find((template) =>
      new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(bare),
    );
  }
}

/** Forbids unknown members. The document allows them, so that clients accept later versions of v1. */
export function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const inner = Object.fromEntries(Object.entries(part).map(([name, each]) => [name, closed(each)]));
  return 'properties' in inner ? { additionalProperties: false, ...inner } : inner;
}

/** Routes that are documented in prose only. */
const UNDOCUMENTED = ['GET /docs', 'GET /docs/*', 'GET /icons/:file'];

/** Compares `adapter.routes.all` with a document, as `GET /merchants/v1/users/:id`. GET includes HEAD. */
export function routeDifferences(
  routes: readonly { readonly method: string; readonly url: string }[],
  document: Document,
): { readonly undocumented: string[]; readonly unserved: string[] } {
  const served = new Set(
    routes.filter(({ method }) => method !== 'HEAD').map(({ method, url }) => `${method} ${url}`),
  );
  const documented = new Set(
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{([^}]+)\}/g, ':$1')}`,
      ),
    ),
  );
  const known = new Set([...documented, ...UNDOCUMENTED]);
  return {
    undocumented: [...served].filter((route) => !known.has(route)).sort(),
    unserved: [...documented].filter((route) => !served.has(route)).sort(),
  };
}
