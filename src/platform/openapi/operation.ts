import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiIncludeEndpoint, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Dto } from '../dto/field.js';
import { problemResponse } from './shared.js';

/** What an endpoint responds: the class of its body and when it comes, or only when it comes. From 400 on it is a problem. */
export type Described = string | readonly [type: Dto, when: string];

export interface OperationWords {
  /** Its name in the document and in generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Of a route that reads its body itself. */
  readonly body?: Dto;
  readonly responses: Readonly<Record<number, Described>>;
}

/** Puts a route into the OpenAPI document. Body, query and path come from the decorators of its parameters. */
export function Operation({
  id,
  tag,
  summary,
  description,
  body,
  responses,
}: OperationWords): MethodDecorator {
  return applyDecorators(
    ApiIncludeEndpoint(),
    ApiTags(tag),
    ApiOperation({ operationId: id, summary, ...(description ? { description } : {}) }),
    ...(body ? [ApiBody({ type: body })] : []),
    ...Object.entries(responses).map(([status, described]) =>
      ApiResponse({ status: Number(status), ...responseOf(Number(status), described) }),
    ),
  );
}

function responseOf(status: number, described: Described): object {
  if (typeof described !== 'string') return { type: described[0], description: described[1] };
  return status < 400 ? { description: described } : problemResponse(described);
}
