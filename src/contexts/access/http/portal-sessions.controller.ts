import { Controller, Delete, Get, Inject, Post, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config, listenerUrl } from '../../../platform/config/config.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Cause,
  ListQuery,
  MerchantId,
  OptionalBody,
  StoresResponseWithEvents,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import { ListParameters } from '../../../platform/http/list-query.js';
import { UpToDate } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { CreatePortalSession, RevokePortalSession } from '../application/portal-session-commands.js';
import { DEFAULT_PORTAL_SCOPES } from '../domain/portal-session.js';
import { PORTAL_SESSIONS_VIEW, PortalSessionsView } from '../views/portal-sessions.js';
import {
  isReturnUrl,
  NewPortalSessionBody,
  PortalSessionResponse,
  PortalSessionsResponse,
} from './portal-session-dto.js';
import { ModuleRef } from '@nestjs/core';
import { PORTAL_PAGE } from '../../../platform/http/admin/listeners.js';
import { PagesModule } from '../../../platform/http/pages/pages.module.js';

/** Where people find the portal. */
@Injectable()
export class PortalAddress {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode' | 'portalUrl' | 'host' | 'portalPort'>,
    private readonly modules: ModuleRef,
  ) {}

  /** Throws `unavailable` where it has no address. */
  url(): string {
    const { mode, portalUrl, host, portalPort } = this.config;
    if (portalUrl !== null) return portalUrl;
    if (mode === 'production') throw new DomainError('unavailable', 'The portal has no address');
    return listenerUrl(
      host,
      this.modules.get(PagesModule, { strict: false }).portOf(PORTAL_PAGE) ?? portalPort,
    );
  }
}

const TAG = 'Portal sessions';

/** Ways into the portal for persons of the merchant (admin-api.md 6). */
@Controller('merchants/v1/portal_sessions')
export class PortalSessionsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly view: PortalSessionsView,
    private readonly address: PortalAddress,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
  ) {}

  @Post()
  @StoresResponseWithEvents()
  @ApiRoute({
    id: 'createPortalSession',
    tag: TAG,
    summary: 'Create a session of the portal',
    description: 'Only this response has `url`, which works once and for 15 minutes.',
    responses: {
      201: [PortalSessionResponse, 'The session waits for its person.'],
      400: 'The JSON or the Idempotency-Key is malformed.',
      422: 'A scope is unknown, or another field is at fault.',
    },
  })
  async create(
    @MerchantId() merchantId: string,
    @OptionalBody() { scopes = DEFAULT_PORTAL_SCOPES, actor = null, return_url = null }: NewPortalSessionBody,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    if (return_url !== null && !isReturnUrl(return_url, this.config.mode))
      throw DomainError.invalid({ return_url: ['must be an https URL'] });
    const person = actor && { id: actor.id, name: actor.name };
    const session = { merchantId, scopes, actor: person, returnUrl: return_url };
    const command = new CreatePortalSession(session, this.address.url(), ticket, cause);
    return new Reply(201, await this.commandBus.execute(command));
  }

  @Get()
  @ApiRoute({
    id: 'listPortalSessions',
    tag: TAG,
    summary: 'List sessions of the portal, newest first',
    responses: {
      200: [PortalSessionsResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'page_size or page_cursor is invalid, or a parameter is unknown; detail names it.',
    },
  })
  @UpToDate(PORTAL_SESSIONS_VIEW)
  async list(@MerchantId() merchantId: string, @ListQuery() query: ListParameters) {
    return this.view.page(merchantId, query.page, timestamp(this.clock));
  }

  @Delete(':id')
  @ApiRoute({
    id: 'revokePortalSession',
    tag: TAG,
    summary: 'Revoke a session of the portal',
    responses: {
      204: 'Neither its url nor its browser works any more.',
      400: 'The Idempotency-Key is malformed.',
      404: 'The merchant has no such session.',
    },
  })
  async revoke(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Portal session') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<void> {
    await this.commandBus.execute(new RevokePortalSession(merchantId, id, cause));
  }
}
