"""A wholesale and logistics firm: CamelCase, declared keys, dates and decimals as such, columns of one name in many."""

from datetime import timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE Employees (EmployeeID INTEGER PRIMARY KEY, FullName VARCHAR(60) NOT NULL, JobTitle VARCHAR(40),
    Office VARCHAR(30), StartDate DATE, ManagerID INTEGER REFERENCES Employees (EmployeeID), Extension INTEGER);
CREATE TABLE Customers (CustomerID INTEGER PRIMARY KEY, CompanyName VARCHAR(60) NOT NULL, ContactName VARCHAR(60),
    City VARCHAR(30), Country VARCHAR(30), CreditLimit DECIMAL(12, 2), PaymentTermsDays INTEGER, IsKeyAccount BOOLEAN,
    AccountManagerID INTEGER REFERENCES Employees (EmployeeID), CustomerSince DATE);
CREATE TABLE Suppliers (SupplierID INTEGER PRIMARY KEY, CompanyName VARCHAR(60) NOT NULL, ContactName VARCHAR(60),
    City VARCHAR(30), Country VARCHAR(30), Rating CHAR(1));
CREATE TABLE Categories (CategoryID INTEGER PRIMARY KEY, CategoryName VARCHAR(40), IsHazardous BOOLEAN);
CREATE TABLE Products (ProductID INTEGER PRIMARY KEY, SKU CHAR(8) UNIQUE, ProductName VARCHAR(80),
    CategoryID INTEGER REFERENCES Categories (CategoryID), SupplierID INTEGER REFERENCES Suppliers (SupplierID),
    ListPrice DECIMAL(10, 2), UnitCost DECIMAL(10, 2), GrossWeightKg REAL, ReorderPoint INTEGER, Discontinued BOOLEAN);
CREATE TABLE Warehouses (WarehouseID INTEGER PRIMARY KEY, WarehouseName VARCHAR(40), City VARCHAR(30),
    Country VARCHAR(30), FloorSpaceM2 INTEGER, IsBonded BOOLEAN,
    SupervisorID INTEGER REFERENCES Employees (EmployeeID));
CREATE TABLE StockLevels (WarehouseID INTEGER REFERENCES Warehouses (WarehouseID),
    ProductID INTEGER REFERENCES Products (ProductID), QtyOnHand INTEGER, QtyReserved INTEGER, LastCounted DATE,
    PRIMARY KEY (WarehouseID, ProductID));
CREATE TABLE Carriers (CarrierID INTEGER PRIMARY KEY, CarrierName VARCHAR(40), TransportMode VARCHAR(10),
    AvgTransitDays INTEGER);
CREATE TABLE SalesOrders (OrderID INTEGER PRIMARY KEY, OrderNo CHAR(9) UNIQUE,
    CustomerID INTEGER NOT NULL REFERENCES Customers (CustomerID), OrderDate DATE, RequiredDate DATE, ShippedDate DATE,
    CarrierID INTEGER REFERENCES Carriers (CarrierID), WarehouseID INTEGER REFERENCES Warehouses (WarehouseID),
    OrderStatus VARCHAR(12), FreightCharge DECIMAL(10, 2));
CREATE TABLE OrderLines (OrderID INTEGER NOT NULL REFERENCES SalesOrders (OrderID), LineNo INTEGER NOT NULL,
    ProductID INTEGER NOT NULL REFERENCES Products (ProductID), Quantity INTEGER, UnitPrice DECIMAL(10, 2),
    DiscountPct REAL, LineTotal DECIMAL(12, 2), PRIMARY KEY (OrderID, LineNo));
CREATE INDEX OrdersByCustomer ON SalesOrders (CustomerID);
"""

EMPLOYEES = [
    (1, "Astrid Falkenberg", "Managing Director", "Hamburg", "2009-01-05", None, 100),
    (2, "Marek Dudek", "Head of Sales", "Hamburg", "2012-04-01", 1, 110),
    (3, "Ines Carvalho", "Account Manager", "Lisbon", "2016-09-12", 2, 301),
    (4, "Pieter van Dalen", "Account Manager", "Rotterdam", "2014-02-17", 2, 201),
    (5, "Saoirse Kinsella", "Account Manager", "Cork", "2019-06-03", 2, 401),
    (6, "Okan Yildiz", "Account Manager", "Hamburg", "2023-10-16", 2, 112),
    (7, "Brigitte Lemaire", "Head of Operations", "Rotterdam", "2011-11-07", 1, 200),
    (8, "Hendrik Bos", "Warehouse Supervisor", "Rotterdam", "2015-03-02", 7, 210),
    (9, "Lucia Ferri", "Warehouse Supervisor", "Genoa", "2018-05-14", 7, 510),
    (10, "Duarte Pinho", "Warehouse Supervisor", "Lisbon", "2020-01-20", 7, 310),
    (11, "Jonas Wieland", "Dispatcher", "Hamburg", "2021-08-09", 7, 120),
    (12, "Femke Bos", "Dispatcher", "Rotterdam", "2024-04-22", 8, None),
    (13, "Ruth Abara", "Credit Controller", "Hamburg", "2017-07-31", 1, 130),
]
SUPPLIERS = [
    (1, "Kestrel Packaging", "Nora Whitlock", "Leeds", "United Kingdom", "A"),
    (2, "Officine Barbieri", "Paolo Barbieri", "Turin", "Italy", "B"),
    (3, "Nordhavn Chemicals", "Lars Toft", "Aarhus", "Denmark", "A"),
    (4, "Sunda Textiles", "Ratna Wijaya", "Surabaya", "Indonesia", "C"),
    (5, "Ferreira & Filhos", "Tiago Ferreira", "Porto", "Portugal", "B"),
    (6, "Baltic Fasteners", "Ieva Kalnina", "Riga", "Latvia", "A"),
    (7, "Shenlong Tools", "Wei Han", "Ningbo", "China", "B"),
    (8, "Grünwald Optik", None, "Jena", "Germany", None),
]
CATEGORIES = [
    (1, "Packaging", 0),
    (2, "Cleaning Agents", 1),
    (3, "Fasteners", 0),
    (4, "Hand Tools", 0),
    (5, "Workwear", 0),
    (6, "Solvents", 1),
    (7, "Lighting", 0),
]
CARRIERS = [
    (1, "Kestrel", "road", 3),
    (2, "Blue Funnel", "sea", 21),
    (3, "TransAlp", "road", 4),
    (4, "Aerolink", "air", 1),
    (5, "Hansa Rail", "rail", 6),
    (6, "Mistral Lines", "sea", 14),
]
WAREHOUSES = [
    (1, "Maasvlakte", "Rotterdam", "Netherlands", 18500, 1, 8),
    (2, "Veddel", "Hamburg", "Germany", 9200, 0, None),
    (3, "Porto di Levante", "Genoa", "Italy", 7400, 1, 9),
    (4, "Tejo", "Lisbon", "Portugal", 5600, 0, 10),
    (5, "Ringaskiddy", "Cork", "Ireland", 3100, 0, None),
]
CUSTOMERS = [
    ("Halvorsen Foods", "Kjell Halvorsen", "Bergen", "Norway", 80000, 30, 1, 6, "2013-05-02"),
    ("Brandt & Söhne", "Ulrike Brandt", "Hamburg", "Germany", 120000, 60, 1, 6, "2010-03-15"),
    ("O'Leary Builders Merchants", "Declan O'Leary", "Cork", "Ireland", 25000, 30, 0, 5, "2019-08-20"),
    ("Maison Perrault", "Sylvie Perrault", "Lyon", "France", 40000, 45, 0, 3, "2016-11-03"),
    ("Azulejos do Sul", "Rita Moura", "Faro", "Portugal", 15000, 30, 0, 3, "2021-02-11"),
    ("Van Houten Retail", "Joost van Houten", "Rotterdam", "Netherlands", 150000, 60, 1, 4, "2011-09-27"),
    ("Lighthouse Hotels", "Grace Penhale", "Plymouth", "United Kingdom", 60000, 30, 1, 5, "2015-01-19"),
    ("Trattoria Group", "Enzo Villa", "Genoa", "Italy", 20000, 30, 0, 3, "2022-06-30"),
    ("Kestrel Marine", "Nora Whitlock", "Plymouth", "United Kingdom", 35000, 45, 0, 5, "2018-04-09"),
    ("Zielona Farms", "Agata Zielona", "Gdansk", "Poland", 30000, 30, 0, None, "2024-10-01"),
]
FIRMS = ["Alder", "Birch", "Cobalt", "Drift", "Ember", "Fathom", "Garnet", "Harrow", "Isle", "Juniper"]
TRADES = ["Retail", "Catering", "Marine", "Logistics", "Interiors"]
PEOPLE = ["Ada Lund", "Boris Hale", "Carla Nuno", "Dirk Ames", "Edda Roth", "Filip Sand", "Greta Moll", "Hugo Pires"]
PLACES = [
    ("Hamburg", "Germany"),
    ("Bremen", "Germany"),
    ("Rotterdam", "Netherlands"),
    ("Utrecht", "Netherlands"),
    ("Lyon", "France"),
    ("Cork", "Ireland"),
    ("Porto", "Portugal"),
    ("Genoa", "Italy"),
    ("Leeds", "United Kingdom"),
]
GOODS = [
    ("Kraft Tape 50 mm", 1, 1, 2.4, 0.4),
    ("Pallet Wrap Clear", 1, 1, 9.9, 3.1),
    ("Double-Wall Box L", 1, 1, 1.85, 0.9),
    ("Bubble Roll 100 m", 1, 5, 21.5, 4.2),
    ("Citrus Degreaser 5 L", 2, 3, 18.9, 5.3),
    ("Floor Polish 10 L", 2, 3, 34.0, 10.6),
    ("Hand Soap Refill", 2, 3, 6.75, 1.1),
    ("Hex Bolt M8 Box", 3, 6, 11.2, 4.8),
    ("Wood Screw 60 mm Box", 3, 6, 8.4, 3.6),
    ("Rivet Set Alu", 3, 6, 14.95, 1.9),
    ("Wall Anchor 10 mm Box", 3, 6, 7.6, 1.2),
    ("Claw Hammer", 4, 7, 16.5, 0.8),
    ("Torque Wrench", 4, 2, 89.0, 1.9),
    ("Bench Vice", 4, 2, 129.0, 14.5),
    ("Spirit Level 80 cm", 4, 7, 22.3, 0.9),
    ("Cable Cutter", 4, 7, 31.4, 0.7),
    ("Hi-Vis Vest", 5, 4, 5.2, 0.2),
    ("Winter Parka", 5, 4, 64.0, 1.6),
    ("Nitrile Gloves Box", 5, 4, 9.3, 0.6),
    ("Safety Boots S3", 5, 5, 58.5, 1.8),
    ("Acetone 25 L", 6, 3, 96.0, 21.4),
    ("White Spirit 5 L", 6, 3, 17.2, 4.3),
    ("Isopropanol 10 L", 6, 3, 52.0, 8.4),
    ("LED High Bay 150 W", 7, 8, 142.0, 3.7),
    ("Inspection Lamp", 7, 8, 27.9, 0.5),
    ("Hurricane Lantern", 7, 7, 24.0, 1.0),
]
DISCONTINUED = {"Hurricane Lantern", "Rivet Set Alu", "Floor Polish 10 L"}


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2202)
    customers = _customers(draw)
    products = _products(draw)
    orders, lines = _orders(draw, customers, products)
    return {
        "Employees": EMPLOYEES,
        "Customers": customers,
        "Suppliers": SUPPLIERS,
        "Categories": CATEGORIES,
        "Products": products,
        "Warehouses": WAREHOUSES,
        "StockLevels": _stock(draw, products),
        "Carriers": CARRIERS,
        "SalesOrders": orders,
        "OrderLines": lines,
    }


def _customers(draw: Draw) -> list[tuple]:
    rows: list[tuple] = [(number, *customer) for number, customer in enumerate(CUSTOMERS, 1)]
    for firm in draw.some([f"{first} {trade}" for first in FIRMS for trade in TRADES], count=38):
        city, country = draw.one(PLACES)
        limit = draw.number(4, 60) * 1000 if draw.chance(0.9) else None
        since = draw.day("2012-01-01", "2025-08-31").isoformat()
        manager = draw.one([3, 4, 4, 5, 6, 6])
        contact = draw.one(PEOPLE) if draw.chance(0.85) else None
        rows.append((len(rows) + 1, firm, contact, city, country, limit, draw.one([14, 30, 30, 45]), 0, manager, since))
    return rows


def _products(draw: Draw) -> list[tuple]:
    rows = []
    for number, (name, category, supplier, price, weight) in enumerate(GOODS, 1):
        sku = f"{'PCFTWSL'[category - 1]}{category}-{1000 + 37 * number}"
        cost = round(price * draw.number(48, 71) / 100, 2)
        gone = int(name in DISCONTINUED)
        rows.append(
            (
                number,
                sku,
                name,
                category,
                supplier,
                price,
                cost,
                weight,
                None if gone else draw.number(2, 30) * 10,
                gone,
            )
        )
    return rows


def _stock(draw: Draw, products: list[tuple]) -> list[tuple]:
    rows = []
    for warehouse in WAREHOUSES:
        for product in products:
            if product[0] == 18 and warehouse[0] in (3, 4):
                continue  # no parkas in the south
            if draw.chance(0.8):
                held = 0 if draw.chance(0.06) else draw.number(5, 900)
                counted = draw.day("2025-06-01", "2025-12-31").isoformat()
                rows.append((warehouse[0], product[0], held, min(held, draw.number(0, 120)), counted))
    return rows


def _orders(draw: Draw, customers: list[tuple], products: list[tuple]) -> tuple[list[tuple], list[tuple]]:
    orders, lines = [], []
    sold = [product for product in products if product[2] != "Hurricane Lantern"]
    for number in range(1, 521):
        customer = draw.skewed(customers[:44])
        ordered = draw.day("2023-01-02", "2025-12-30")
        status = (
            draw.one(["open", "open", "cancelled", "backorder", "shipped"])
            if ordered.isoformat() > "2025-12-08"
            else ""
        )
        status = status or draw.one(["shipped"] * 5 + ["delivered"] * 14 + ["cancelled"])
        shipped = ordered + timedelta(days=draw.number(1, 11)) if status in ("shipped", "delivered") else None
        carrier = draw.one([1, 1, 1, 3, 3, 2, 4, 5]) if status != "open" else None
        freight = draw.number(1500, 68000) / 100
        orders.append(
            (
                number,
                f"SO-{10200 + number}",
                customer[0],
                ordered.isoformat(),
                (ordered + timedelta(days=draw.number(5, 20))).isoformat(),
                shipped.isoformat() if shipped else None,
                carrier,
                draw.one([1, 1, 1, 2, 2, 3, 4, 5]),
                status,
                freight,
            )
        )
        for line, product in enumerate(draw.some(sold, count=draw.number(1, 5)), 1):
            quantity, off = draw.number(1, 40) * 5, draw.one([0, 0, 0, 5, 10, 15])
            total = round(quantity * product[5] * (100 - off) / 100, 2)
            lines.append((number, line, product[0], quantity, product[5], off, total))
    return orders, lines
