-- The roles of the three services, for any server that holds one of their databases.
--
-- Run as a superuser, any number of times, by several at once. An *owner* owns a service's database
-- and runs its migrations; the *service* role is what the running service connects as, and has only
-- what the migrations grant it. Each password is the role's name until the deployment sets another:
--   ALTER ROLE order_service PASSWORD '…';
DO $$
DECLARE
  service text;
  role text;
BEGIN
  -- CREATE ROLE has no IF NOT EXISTS, and two sessions altering one role fail with "tuple
  -- concurrently updated": one at a time.
  PERFORM pg_advisory_xact_lock(hashtext('tercet roles'));

  FOREACH service IN ARRAY ARRAY['order', 'payment', 'inventory'] LOOP
    FOREACH role IN ARRAY ARRAY[service || '_owner', service || '_service'] LOOP
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
        EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L', role, role);
      END IF;
    END LOOP;

    -- All below the 10 s deadline of the RPCs: dropping a query's future does not stop the
    -- statement, so the server itself must end what nobody waits for any more.
    EXECUTE format('ALTER ROLE %I SET statement_timeout = ''5s''', service || '_service');
    EXECUTE format('ALTER ROLE %I SET lock_timeout = ''2s''', service || '_service');
    EXECUTE format(
      'ALTER ROLE %I SET idle_in_transaction_session_timeout = ''5s''', service || '_service');
  END LOOP;
END
$$;
