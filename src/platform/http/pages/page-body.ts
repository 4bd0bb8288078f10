import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../config/config.js';
import { isObject } from '../../dto/field.js';
import { isJsonMediaType, parseJsonBody } from '../json-body.js';
import { BytesInHand } from '../memory.js';
import { Refusal, WRONG_MEDIA_TYPE } from '../problem.js';
import { announcesTooMuch, readBody, tooLarge } from '../request-body.js';

/** JSON bodies of this many bytes and more are refused with 413. */
const JSON_LIMIT = 16_384;

/**
 * Reads the body of a call: after the guards, so that nothing is read of what a stranger sends, and into memory that is
 * bounded for all of them. A JSON object, or the bytes where the route says `@BytesBelow`.
 */
@Injectable()
export class PageBody implements NestInterceptor {
  static readonly LIMIT = 'bytes below';
  private readonly memory: BytesInHand;

  constructor(@Inject(CONFIG) config: Pick<Config, 'requestMemoryMib'>) {
    // Sealing makes further copies of an image, and the other half is for the rest of the process.
    this.memory = new BytesInHand((config.requestMemoryMib << 20) / 2);
  }

  async intercept(context: ExecutionContext, next: CallHandler) {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.method === 'POST') {
      const limit = Reflect.getMetadata(PageBody.LIMIT, context.getHandler()) as number | undefined;
      const body = await this.read(request, http.getResponse<FastifyReply>(), limit ?? JSON_LIMIT);
      request.edge.rawBody = body;
      request.body = limit === undefined ? objectIn(request, body) : body;
    }
    return next.handle();
  }

  private read(request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Buffer> {
    const { edge, raw } = request;
    if (announcesTooMuch(raw, limit)) throw new DomainError('too_large', tooLarge(limit));
    reply.raw.once('close', () => this.memory.release(edge));
    const room = (bytes: number): boolean => this.memory.takeBody(edge, bytes);
    return new Promise((resolve, reject) =>
      readBody(raw, room, (error, body) => (error === null ? resolve(body!) : reject(error)), limit),
    );
  }
}

function objectIn({ headers }: FastifyRequest, body: Buffer): object {
  if (!isJsonMediaType(headers['content-type'])) throw new Refusal(WRONG_MEDIA_TYPE);
  const value = parseJsonBody(body);
  if (!isObject(value)) throw new DomainError('bad_request', 'The body must be a JSON object');
  return value;
}
