import { Get } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { tidy } from '../../../../kernel/typed-text.js';
import { text, uuid } from '../../../../platform/dto/rules.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery, MerchantId } from '../../../../platform/http/decorators.js';
import { Filter } from '../../../../platform/http/list-query.js';
import { Reply } from '../../../../platform/http/reply.js';
import { UsersView } from '../../../users/contract.js';
import { JourneyView, NO_EVENTS } from '../../views/journey.js';
import { JourneyQuery } from '../journey.controller.js';

class PortalEventsQuery extends JourneyQuery {
  @Filter(uuid, 'The journey of this user.') user_id?: string;
  @Filter(text({ minLength: 1 }, tidy), 'The journey of this user, as the events call it.')
  user_external_id?: string;
}

/** Events that the servers of the merchant sent, as the journey of a user (admin-api.md 6). */
@PortalController('events')
export class PortalEventsController {
  constructor(
    private readonly users: UsersView,
    private readonly journeys: JourneyView,
  ) {}

  @Get()
  @PortalScopes('events:read')
  async list(@MerchantId() merchantId: string, @ListQuery() query: PortalEventsQuery): Promise<Reply> {
    const externalId = await this.externalId(merchantId, query);
    return new Reply(
      200,
      externalId === null ? NO_EVENTS : await this.journeys.page(merchantId, externalId, query),
    );
  }

  private async externalId(
    merchantId: string,
    { user_id: userId, user_external_id: externalId }: PortalEventsQuery,
  ): Promise<string | null> {
    if (userId === undefined) {
      if (externalId === undefined)
        throw new DomainError('bad_request', 'user_id or user_external_id is required');
      // PostgreSQL stores no zero characters.
      return externalId.includes('\0') ? null : externalId;
    }
    const user = await this.users.find(merchantId, userId);
    if (user === null) throw DomainError.notFound('User');
    return user.externalId;
  }
}
