import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Fault } from '../../../../kernel/fault.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { AddressRateLimiter, clientOf } from '../../../../platform/http/address.js';
import { BytesInHand } from '../../../../platform/http/memory.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { tooManyRequests } from '../../../../platform/http/rate-limit.js';
import { announcesTooMuch, readBody, tooLarge } from '../../../../platform/http/request-body.js';
import { IMAGE_KINDS, type IdentityImage } from '../../domain/identity-image.js';
import { WidgetGate } from './gate.js';
import { NO_IMAGE, readImage } from './image-content.js';
import { personIn, sessionOf, type Person } from './person.js';
import { WidgetSessions } from './sessions.js';

/** Images of this many bytes and more are refused with 413: what cameras make is smaller. */
export const IMAGE_LIMIT = 8 * 1_048_576;

/** Of one person, in a process: three are needed, and some are taken again. */
const IMAGES_PER_MINUTE = 20;

/** What is done with an image whose content was checked; resolves with what the page is told. */
export type Keep = (person: Person, image: IdentityImage, request: FastifyRequest) => Promise<object>;

/**
 * `POST /onboarding/:merchantId/:userId/images/:kind`, an image as the body (contract.md 18.10). Nothing of a body is read
 * before its sender has a session, and what all of them may hold is bounded.
 */
@Injectable()
export class ImageUploads {
  private readonly memory: BytesInHand;
  /** By the person, whoever else may use their address: a session shows that it is them. */
  private readonly people = new AddressRateLimiter(IMAGES_PER_MINUTE);

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'requestMemoryMib'>,
    private readonly gate: WidgetGate,
    private readonly sessions: WidgetSessions,
  ) {
    // Sealing makes further copies of an image, and the other half is for the rest of the process.
    this.memory = new BytesInHand((config.requestMemoryMib << 20) / 2);
  }

  /** In a scope of its own: no other route takes such bodies. */
  serve(routes: FastifyInstance, keep: Keep): void {
    void routes.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (request, payload, done) => {
        const room = (bytes: number): boolean => this.memory.takeBody(request.edge, bytes);
        const taken = (error: Error | null, body?: Buffer): void => {
          if (body !== undefined) request.edge.rawBody = body;
          done(error, body);
        };
        readBody(payload, room, taken, IMAGE_LIMIT);
      });
      scope.post(
        '/onboarding/:merchantId/:userId/images/:kind',
        { bodyLimit: IMAGE_LIMIT - 1, onRequest: (request, reply) => this.admit(request, reply) },
        async (request, reply) => {
          const image = imageOf(kindIn(request), request.body);
          return reply.send(await keep(personIn(request), image, request));
        },
      );
    });
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { merchantId, userId } = personIn(request);
    await this.gate.enter(merchantId, userId, request.ip);
    kindIn(request);
    this.sessions.require(userId, sessionOf(request));
    const blockedUntil = this.people.take(userId);
    if (blockedUntil !== null) throw new Refusal(tooManyRequests(blockedUntil, Date.now()));
    if (announcesTooMuch(request.raw, IMAGE_LIMIT)) throw new DomainError('too_large', tooLarge(IMAGE_LIMIT));
    const { edge } = request;
    edge.client = clientOf(request.ip);
    reply.raw.once('close', () => this.memory.release(edge));
  }
}

function kindIn(request: FastifyRequest): IdentityImage['kind'] {
  const { kind } = request.params as { readonly kind: string };
  const found = IMAGE_KINDS.find((each) => each === kind);
  if (found === undefined) throw DomainError.notFound('Page');
  return found;
}

/** By what it is; what its sender calls it counts for nothing. */
function imageOf(kind: IdentityImage['kind'], body: unknown): IdentityImage {
  const content = Buffer.isBuffer(body) ? readImage(body) : NO_IMAGE;
  if (content === NO_IMAGE) throw new Refusal({ status: 415, detail: NO_IMAGE.message });
  if (content instanceof Fault) throw DomainError.invalid({ image: [content.message] });
  return { kind, type: content.type, bytes: content.bytes };
}
