-- Controllers that live. A row ends by the time of this database, and by nothing else.
create table controller (
  id text primary key,
  url text not null,
  expires_at timestamptz not null
);

-- Workspaces that an operator has admitted.
create table workspace (
  tenant text not null,
  workspace text not null,
  spec jsonb not null,
  primary key (tenant, workspace)
);

-- What each workspace has of a machine, and what is wanted of it.
create table binding (
  tenant text not null,
  workspace text not null,
  provider text not null,
  generation bigint not null check (generation > 0),
  revision bigint not null default 1,
  retired boolean not null default false,
  spec jsonb not null,
  launch jsonb,
  pending text check (pending in ('ensure', 'start', 'stop', 'destroy')),
  status jsonb,
  last_error jsonb,
  verification jsonb,
  primary key (tenant, workspace),
  foreign key (tenant, workspace) references workspace
);

-- Which controller drives a workspace. `fence` grows with each new owner: what was written under an older one is refused.
create table lease (
  tenant text not null,
  workspace text not null,
  holder text,
  fence bigint not null default 0,
  primary key (tenant, workspace),
  foreign key (tenant, workspace) references binding on delete cascade
);

-- When a workspace was last used by way of each controller.
create table activity (
  tenant text not null,
  workspace text not null,
  controller text not null,
  last_used timestamptz not null,
  primary key (tenant, workspace, controller)
);

create function tell_binding() returns trigger language plpgsql as $$
begin
  perform pg_notify('binding', new.tenant || '/' || new.workspace);
  return new;
end $$;
create trigger binding_told after insert or update on binding for each row execute function tell_binding();

create function tell_controller() returns trigger language plpgsql as $$
begin
  perform pg_notify('controller', old.id);
  return old;
end $$;
create trigger controller_told after delete on controller for each row execute function tell_controller();
